"""Fetch, versions 4 to 18: record batches from each partition wanted, waiting for them if need be.

The bytes are shared out fairly: each partition gets its own maximum while the request's lasts, and
in a session who got records is served last the next time. The first batch is sent even if it is
larger than any maximum, so that nobody gets stuck.

Errors of the whole request: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH. Per partition:
OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, FENCED_LEADER_EPOCH,
UNKNOWN_LEADER_EPOCH, KAFKA_STORAGE_ERROR.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from ottla.broker.broker import Broker
from ottla.broker.fetch_sessions import FetchSession, Wanted, wanted_of
from ottla.broker.handling import RequestContext, handles
from ottla.broker.pending import Pending
from ottla.model import Buffer, KafkaError
from ottla.replication.partition import Isolation, Partition
from ottla.storage.file_slice import COPIED_BYTES_MAX, FileSlice
from ottla.wire.apis import ApiKey
from ottla.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

_INVALID_OFFSET = -1
_TOPIC_ID_VERSION = 13


@handles(ApiKey.FETCH)
def fetch(
    broker: Broker, context: RequestContext, request: FetchRequest
) -> FetchResponse | Pending:
    try:
        session = broker.fetch_sessions.enter(request)
    except KafkaError as error:
        return FetchResponse(error_code=error.code)
    reading = _Reading(broker, request, session, by_id=context.api_version >= _TOPIC_ID_VERSION)
    found = reading.read()
    if found.size >= request.min_bytes or found.has_error or not reading.can_wait:
        response = reading.response(found)
        cold = [each for each in found.slices if not each.is_warm]
        return broker.when_warm(cold, response) if cold else response
    return _Waiting(reading, missing=request.min_bytes - found.size).pending


class _Found:
    """What one look at the partitions brought."""

    __slots__ = ("answers", "has_error", "size", "slices")

    def __init__(self) -> None:
        self.slices: list[FileSlice] = []
        self.answers: list[tuple[Wanted, PartitionData]] = []
        self.size = 0
        self.has_error = False


class _Reading:
    """A fetch: its partitions, looked at once or, if it waits, once more."""

    def __init__(
        self, broker: Broker, request: FetchRequest, session: FetchSession | None, *, by_id: bool
    ) -> None:
        self.broker = broker
        self.request = request
        self.session = session
        self._by_id = by_id
        self._isolation = Isolation(request.isolation_level & 1)
        self.wanted = wanted_of(request) if session is None else list(session.wanted.values())

    @property
    def can_wait(self) -> bool:
        return self.request.max_wait_ms > 0 and bool(self.wanted)

    def read(self) -> _Found:
        found = _Found()
        left = min(self.request.max_bytes, self.broker.fetch_bytes_max)
        for wanted in self.wanted:
            answer = self._read_partition(wanted, left, found)
            size = len(answer.records or b"")
            found.size += size
            left = max(left - size, 0)
            found.has_error |= answer.error_code != 0
            found.answers.append((wanted, answer))
        return found

    def _read_partition(self, wanted: Wanted, bytes_left: int, found: _Found) -> PartitionData:
        asked = wanted.request
        answer = PartitionData(partition_index=asked.partition, records=b"")
        try:
            partition = self.find(wanted)
            partition.check_leader_epoch(asked.current_leader_epoch)
            read = partition.read(
                asked.fetch_offset,
                bytes_max=min(asked.partition_max_bytes, bytes_left),
                isolation=self._isolation,
                min_one_batch=not found.size,
            )
        except KafkaError as error:
            answer.error_code = error.code
            answer.high_watermark = answer.last_stable_offset = _INVALID_OFFSET
            return answer
        except OSError as error:
            answer.error_code = self.broker.storage_failed(partition, error).code
            return answer
        answer.high_watermark = read.high_watermark
        answer.last_stable_offset = read.last_stable_offset
        answer.log_start_offset = read.log_start_offset
        answer.aborted_transactions = None
        if read.aborted_transactions is not None:
            answer.aborted_transactions = [
                AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
                for each in read.aborted_transactions
            ]
        if read.records is not None:
            answer.records = self._records(read.records, found)
        return answer

    def _records(self, records: FileSlice, found: _Found) -> Buffer:
        """Few bytes are read at once where they are cached; more are sent from the file."""
        if records.size <= COPIED_BYTES_MAX and (data := records.read_cached()) is not None:
            return data
        found.slices.append(records)
        return records  # type: ignore[return-value]  # sized, and sent as a file

    def find(self, wanted: Wanted) -> Partition:
        if self._by_id:
            return self.broker.partitions.by_id(wanted.topic_id, wanted.request.partition)
        return self.broker.partitions.by_name(wanted.topic, wanted.request.partition)

    def response(self, found: _Found) -> FetchResponse:
        session = self.session
        if session is None:
            return FetchResponse(responses=_by_topic(found.answers))
        is_first = self.request.session_epoch == 0
        told = []
        for wanted, answer in found.answers:
            if wanted.has_news(answer) or is_first:
                told.append((wanted, answer))
            if answer.records and wanted.key in session.wanted:
                session.serve_last(wanted)
        return FetchResponse(session_id=session.id, responses=_by_topic(told))


class _Waiting:
    """A fetch that found too little: looks again when enough was appended, or time is up."""

    def __init__(self, reading: _Reading, *, missing: int) -> None:
        self.pending = Pending(on_abandoned=self._stop)
        self._reading = reading
        self._missing = missing
        self._partitions = list(_existing(reading))
        for partition in self._partitions:
            partition.when_appended(self, self._appended)
        seconds = reading.request.max_wait_ms / 1_000
        self._timer = reading.broker.clock.call_later(seconds, self._time_is_up)

    def _appended(self, size: int) -> None:
        self._missing -= size
        if self._missing > 0:
            return
        found = self._reading.read()
        self._missing = self._reading.request.min_bytes - found.size
        if self._missing <= 0 or found.has_error:
            self._stop()
            self.pending.resolve(self._reading.response(found))

    def _time_is_up(self) -> None:
        self._stop()
        self.pending.resolve(self._reading.response(self._reading.read()))

    def _stop(self) -> None:
        self._timer.cancel()
        for partition in self._partitions:
            partition.forget(self)


def _existing(reading: _Reading) -> Iterable[Partition]:
    for wanted in reading.wanted:
        with suppress(KafkaError):
            yield reading.find(wanted)


def _by_topic(answers: list[tuple[Wanted, PartitionData]]) -> list[FetchableTopicResponse]:
    """Neighbours of one topic go together; partitions keep the order of service."""
    topics: list[FetchableTopicResponse] = []
    for wanted, answer in answers:
        last = topics[-1] if topics else None
        if last is None or (last.topic, last.topic_id) != (wanted.topic, wanted.topic_id):
            last = FetchableTopicResponse(topic=wanted.topic, topic_id=wanted.topic_id)
            topics.append(last)
        last.partitions.append(answer)
    return topics
