"""A partition's log, applied to a coordinator's state batch by batch.

Records that cannot be read are left out with a warning, as are those of types that are not known
here: they were written by a newer release, or by somebody who may not. The rest is still right.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from ottla.coordinator.runtime.state_machine import StateMachine
from ottla.model import NO_PRODUCER_ID, Buffer, TopicPartition
from ottla.wire.errors import ProtocolError
from ottla.wire.records import (
    BatchHeader,
    ControlRecordType,
    iterate_batches,
    iterate_records,
    read_control_type,
)
from ottla.wire.schema import Message

_log = logging.getLogger(__name__)


class Replay:
    """Made for one loading; `position` is the offset to go on from."""

    def __init__(self, name: TopicPartition, machine: StateMachine, *, start_offset: int) -> None:
        self.position = start_offset
        self._name = name
        self._machine = machine
        # Most records of the log have a key that was there before.
        self._keys: dict[bytes, Message | None] = {}

    def apply(self, batches: Buffer) -> Iterator[None]:
        """Applies whole batches that follow each other, and yields after each."""
        for at, header in iterate_batches(batches):
            if header.last_offset >= self.position:
                self._apply_batch(batches, at, header)
                self.position = header.last_offset + 1
            yield

    def _apply_batch(self, batches: Buffer, at: int, header: BatchHeader) -> None:
        producer_id = header.producer_id if header.is_transactional else NO_PRODUCER_ID
        for record in iterate_records(batches, at):
            if record.offset < self.position or record.key is None:
                continue
            if header.is_control:
                self._apply_marker(record.key, header.producer_id)
            else:
                self._apply_record(record.key, record.value, record.offset, producer_id)

    def _apply_record(
        self, raw_key: bytes, raw_value: bytes | None, offset: int, producer_id: int
    ) -> None:
        try:
            key = self._keys.get(raw_key)
            if key is None:
                key = self._keys[raw_key] = self._machine.record_types.decode_key(raw_key)
            value = None
            if raw_value is not None:
                value, _ = self._machine.record_types.decode_value(key, raw_value)
        except ProtocolError as error:
            _log.warning("%s: the record at offset %d is left out: %s", self._name, offset, error)
            return
        self._machine.replay(key, value, offset=offset, producer_id=producer_id)

    def _apply_marker(self, raw_key: bytes, producer_id: int) -> None:
        kind = read_control_type(raw_key)
        if kind in (ControlRecordType.COMMIT, ControlRecordType.ABORT):
            self._machine.replay_end_transaction(
                producer_id, is_committed=kind is ControlRecordType.COMMIT
            )
