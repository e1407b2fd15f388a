"""Decodes the records that a response has locked: batches of the log, of which some records are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ottla.client.consuming.decoding.record_loop import decode_fields
from ottla.client.sharing.acknowledgements import AckRun
from ottla.client.sharing.records import SharedRecord
from ottla.model import Buffer, TopicPartition
from ottla.shares.delivery import Acquired
from ottla.shares.record_state import AcknowledgeType
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import iterate_batches, read_body, validate_batch
from ottla.wire.records.header import BatchHeader, TimestampType

# Inlined `SharedRecord._make`, because this is called for every record.
_new_record: Final[Any] = tuple.__new__


class DecodedRecords(NamedTuple):
    """`settled` are the locked offsets without a record for the application, with what is to be
    acknowledged for them; `unreadable` is the first offset of a corrupt batch, and why."""

    records: list[SharedRecord]
    settled: list[AckRun]
    unreadable: tuple[int, str] | None


class SharedDecoder:
    """Decodes one response of one partition."""

    def __init__(self, name: TopicPartition, acquired: Sequence[Acquired]) -> None:
        self._name = name
        self._acquired = acquired
        self._records: list[SharedRecord] = []
        self._corrupt: list[AckRun] = []
        self._unreadable: tuple[int, str] | None = None
        # The offsets from the first batch to the last one.
        self._begin = self._end = -1

    def decode(self, data: Buffer, *, checks_crcs: bool) -> DecodedRecords:
        view = memoryview(data)
        try:
            for at, header in iterate_batches(view):
                if self._begin < 0:
                    self._begin = header.base_offset
                self._end = header.last_offset
                wanted = [
                    each
                    for each in self._acquired
                    if each.first <= header.last_offset and each.last >= header.base_offset
                ]
                if wanted and not header.is_control:
                    batch = view[at : at + header.size_in_bytes]
                    self._decode_batch(batch, header, wanted, checks_crcs=checks_crcs)
        except ProtocolError as error:
            self._note(self._end + 1, error)
        return DecodedRecords(self._records, [*self._corrupt, *self._gaps()], self._unreadable)

    def _decode_batch(
        self,
        batch: memoryview,
        header: BatchHeader,
        wanted: Sequence[Acquired],
        *,
        checks_crcs: bool,
    ) -> None:
        count = len(self._records)
        try:
            if checks_crcs:
                validate_batch(batch, allow_gaps=True)
            self._add_records(read_body(batch, 0, header), header, wanted)
        except ProtocolError as error:
            del self._records[count:]
            self._note(header.base_offset, error)
            # As Kafka's client does: it would be as corrupt the next time.
            self._corrupt += [
                AckRun(
                    max(each.first, header.base_offset),
                    min(each.last, header.last_offset),
                    AcknowledgeType.REJECT,
                )
                for each in wanted
            ]

    def _add_records(self, body: bytes, header: BatchHeader, wanted: Sequence[Acquired]) -> None:
        new, cls = _new_record, SharedRecord
        (topic, partition), base = self._name, header.base_offset
        epoch, kind = header.leader_epoch, header.timestamp_type
        fields, _ = decode_fields(body, header.record_count, header.last_offset_delta)
        factor, time = 1, header.base_timestamp
        if kind is TimestampType.LOG_APPEND_TIME:
            factor, time = 0, header.max_timestamp
        for first, last, count in wanted:
            low, high = first - base, last - base
            part = fields
            if low > 0 or high < header.last_offset_delta:
                part = [each for each in fields if low <= each[0] <= high]
            self._records += [
                new(
                    cls,
                    (
                        topic,
                        partition,
                        base + delta,
                        time + late * factor,
                        kind,
                        key,
                        value,
                        headers,
                        epoch,
                        count,
                    ),
                )
                for delta, late, key, value, headers in part
            ]

    def _note(self, offset: int, error: ProtocolError) -> None:
        if self._unreadable is None:
            self._unreadable = offset, str(error)

    def _gaps(self) -> list[AckRun]:
        """Locked offsets without a record: the log has none there, or the response does not have
        it, and it is released."""
        locked = sum(each.last - each.first + 1 for each in self._acquired)
        locked -= sum(run.size for run in self._corrupt)
        if locked == len(self._records):
            return []
        found = {record.offset for record in self._records}
        for run in self._corrupt:
            found.update(range(run.first, run.last + 1))
        begin, end = (self._begin, self._end) if self._begin >= 0 else (0, -1)
        gaps: list[AckRun] = []
        for first, last, _ in self._acquired:
            for offset in range(first, last + 1):
                if offset not in found:
                    is_gap = begin <= offset <= end
                    kind = AcknowledgeType.GAP if is_gap else AcknowledgeType.RELEASE
                    gaps.append(AckRun(offset, offset, kind))
        return gaps
