"""Replays a partition's log into a coordinator's state.

Only the last record of each key counts (the topic is compacted). So records are compacted in memory
before they are applied: a million commits of the same offsets cost little more than the offsets.
Transactional records and markers are applied in between, one by one; so are the records of a topic
where a record only changes what earlier ones say.

Records that cannot be decoded are skipped with a warning, and so are records of unknown types: a
newer release wrote them, or a client that should not. The other records are still valid. A batch
with a valid checksum whose body cannot be decoded is skipped too. Kafka stops loading in both
cases, and then no group or transaction of the partition has a coordinator.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final

from ottla.coordinator.runtime.state_machine import StateMachine
from ottla.model import NO_PRODUCER_ID, Buffer, TopicPartition
from ottla.wire.errors import ProtocolError
from ottla.wire.records import (
    BatchHeader,
    ControlRecordType,
    iterate_batches,
    iterate_records,
    read_body,
    read_control_type,
    verify_crc,
    walk_records,
)
from ottla.wire.varint import read_varint

_log = logging.getLogger(__name__)


# Yields to other tasks after this many records.
_RECORDS_AT_ONCE: Final = 64
# A coordinator's batches are far smaller, even decompressed.
_BODY_BYTES_MAX: Final = 64 << 20
# Keys held in memory before they are applied: about ten megabytes.
_KEYS_MAX: Final = 50_000


class Replay:
    """One load of a log: call `apply` from the log's start to its end, then `finish`. `position` is
    the offset to continue from."""

    def __init__(self, name: TopicPartition, machine: StateMachine, *, start_offset: int) -> None:
        self.position = start_offset
        self._name = name
        self._machine = machine
        # The last value and its offset by key, ordered by offset.
        self._latest: dict[bytes, tuple[bytes | None, int]] = {}

    def apply(self, batches: Buffer) -> Iterator[None]:
        """Processes the complete batches of a section of the log, and yields regularly. Raises
        `ProtocolError` at a batch with a wrong checksum: the damage would enter the state and later
        records. The batches before it are processed."""
        count = 0
        for at, header in iterate_batches(batches):
            next_offset = header.next_offset
            if next_offset <= self.position:
                continue
            verify_crc(batches, at, header)
            if header.is_transactional or header.is_control:
                yield from self.finish()
                self._apply_transaction(batches, at, header)
            else:
                yield from self._gather(batches, at, header)
            self.position = next_offset
            count += header.record_count
            if count >= _RECORDS_AT_ONCE:
                count = 0
                yield
            if len(self._latest) > _KEYS_MAX:
                yield from self.finish()

    def finish(self) -> Iterator[None]:
        """Applies the records that `apply` still holds, and yields regularly."""
        latest, self._latest = self._latest, {}
        for count, (key, (value, offset)) in enumerate(latest.items(), 1):
            self._apply_record(key, value, offset, NO_PRODUCER_ID)
            if count % _RECORDS_AT_ONCE == 0:
                yield

    def _gather(self, batches: Buffer, at: int, header: BatchHeader) -> Iterator[None]:
        """Collects all records of a batch, or none if the batch cannot be decoded."""
        position, base_offset = self.position, header.base_offset
        found: list[tuple[bytes, bytes | None, int]] = []
        try:
            body = read_body(batches, at, header, decompressed_bytes_max=_BODY_BYTES_MAX)
            for count, record in enumerate(walk_records(body, header.record_count), 1):
                _, end, _, offset_delta, key, is_null, value_at = record
                offset = base_offset + offset_delta
                if offset >= position and key is not None:
                    value = None
                    if not is_null:
                        size, value_at = read_varint(body, value_at)
                        value = body[value_at : min(value_at + size, end)]
                    found.append((key, value, offset))
                if count % _RECORDS_AT_ONCE == 0:
                    yield
        except ProtocolError as error:
            self._leave_out(header, error)
            return
        if self._machine.record_types.is_incremental:
            for count, (key, value, offset) in enumerate(found, 1):
                self._apply_record(key, value, offset, NO_PRODUCER_ID)
                if count % _RECORDS_AT_ONCE == 0:
                    yield
            return
        latest = self._latest
        for key, value, offset in found:
            if key in latest:
                del latest[key]
            latest[key] = (value, offset)

    def _apply_transaction(self, batches: Buffer, at: int, header: BatchHeader) -> None:
        """Raises `ProtocolError` for a marker that cannot be decoded: the transaction's result must
        not be guessed."""
        try:
            records = list(iterate_records(batches, at, decompressed_bytes_max=_BODY_BYTES_MAX))
        except ProtocolError as error:
            if header.is_control:
                raise
            self._leave_out(header, error)
            return
        for record in records:
            if record.offset < self.position or record.key is None:
                continue
            if header.is_control:
                self._apply_marker(record.key, header.producer_id)
            else:
                self._apply_record(record.key, record.value, record.offset, header.producer_id)

    def _leave_out(self, header: BatchHeader, error: ProtocolError) -> None:
        _log.error(
            "%s: skipping the batch of offsets %d to %d, whose checksum is correct but whose "
            "records cannot be read: %s",
            self._name,
            header.base_offset,
            header.last_offset,
            error,
        )

    def _apply_record(
        self, raw_key: bytes, raw_value: bytes | None, offset: int, producer_id: int
    ) -> None:
        try:
            key = self._machine.record_types.decode_key(raw_key)
            value = None
            if raw_value is not None:
                value, _ = self._machine.record_types.decode_value(key, raw_value)
        except ProtocolError as error:
            _log.warning("%s: skipping the record at offset %d: %s", self._name, offset, error)
            return
        self._machine.replay(key, value, offset=offset, producer_id=producer_id)

    def _apply_marker(self, raw_key: bytes, producer_id: int) -> None:
        kind = read_control_type(raw_key)
        if kind in (ControlRecordType.COMMIT, ControlRecordType.ABORT):
            self._machine.replay_end_transaction(
                producer_id, is_committed=kind is ControlRecordType.COMMIT
            )
