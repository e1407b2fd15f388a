"""The state of a registry, read from its topic.

The topic is read when something needs it, not all the time: a reader that finds nothing waits for
a round that begins afterwards. What a registry has acknowledged before is committed, so such a
round finds it. Rounds do not overlap, and are not more often than every few milliseconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from math import inf
from typing import Final, NamedTuple

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.validation.schema_records import is_small, read_schema_records
from ottla.channels import versions
from ottla.channels.errors import ChannelError
from ottla.metadata import TopicImage
from ottla.model import ErrorCode, KafkaError, TopicPartition, Uuid
from ottla.replication.partition import Isolation
from ottla.replication.partitions import Partitions
from ottla.runtime.background import Background, WorkerCrashedError
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.schemas.registered.records import (
    SchemaRemoved,
    SchemaWritten,
    TopicRecord,
    decode_change,
)
from ottla.schemas.registered.state import RegistryState
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.wire.errors import ProtocolError
from ottla.wire.messages import fetch as wire

_FETCH_BYTES_MAX: Final = 1 << 20
_TIMEOUT_MS: Final = 3_000
_PATIENCE_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.1
_BETWEEN_ROUNDS_SECONDS: Final = 0.02
_STEP_SECONDS: Final = 0.002
_UNUSABLE_SECONDS: Final = 30.0

_log = logging.getLogger(__name__)


class _Fetched(NamedTuple):
    data: bytes
    aborted: Sequence[wire.AbortedTransaction]
    # Up to which the records are committed.
    end: int


class SchemaLog:
    """One topic of schemas. Owned by the node's loop."""

    def __init__(
        self,
        name: str,
        cluster: ClusterView,
        partitions: Partitions,
        peers: BrokerPeers,
        failures: StorageFailures,
        background: Background,
        clock: Clock,
        tasks: Tasks,
        *,
        bytes_max: int,
    ) -> None:
        self.name = name
        self.state = RegistryState()
        # The end of the last round, on the monotonic clock.
        self.read_at = -inf
        # Another state was begun, because the topic was created again or lost its end.
        self.resets = 0
        self._cluster = cluster
        self._partitions = partitions
        self._peers = peers
        self._failures = failures
        self._background = background
        self._clock = clock
        self._tasks = tasks
        self._bytes_max = bytes_max
        self._sizes: dict[tuple[str, int], int] = {}
        self._size = 0
        self._topic_id: Uuid | None = None
        self._position = 0
        self._unusable_error: KafkaError | None = None
        self._unusable_until = -inf
        self._waiting: list[asyncio.Future[None]] = []
        self._is_reading = False

    @property
    def changes(self) -> tuple[int, int]:
        """Differs after each change of the state."""
        return self.resets, self.state.changes

    async def catch_up(self) -> None:
        """Returns when everything that was committed before the call is applied. Raises
        KafkaError."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        if not self._is_reading:
            self._is_reading = True
            self._tasks.start(f"read schemas of {self.name}", self._rounds())
        await future

    async def _rounds(self) -> None:
        try:
            while self._waiting:
                waiting, self._waiting = self._waiting, []
                error = await self._round()
                for each in waiting:
                    if each.done():
                        continue
                    if error is None:
                        each.set_result(None)
                    else:
                        each.set_exception(error)
                await self._clock.sleep(_BETWEEN_ROUNDS_SECONDS)
        finally:
            self._is_reading = False
            for each in self._waiting:
                each.cancel()

    async def _round(self) -> KafkaError | None:
        ends_at = self._clock.monotonic() + _PATIENCE_SECONDS
        if self._unusable_error is not None and self._clock.monotonic() < self._unusable_until:
            return self._unusable_error
        while True:
            try:
                await self._read()
            except KafkaError as error:
                if error.code is ErrorCode.INVALID_CONFIG or self._clock.monotonic() >= ends_at:
                    return error
                await self._clock.sleep(_PAUSE_SECONDS)
            else:
                self.read_at = self._clock.monotonic()
                return None

    async def _read(self) -> None:
        """Reads up to the end that the topic has at the beginning."""
        topic = self._cluster.image.topics.by_name.get(self.name)
        topic_id = None if topic is None else topic.id
        if topic_id != self._topic_id:
            self._reset()
            self._topic_id = topic_id
        if topic is None:
            return
        end = None
        while end is None or self._position < end:
            fetched = await self._fetch(topic)
            end = fetched.end if end is None else end
            if not fetched.data:
                return
            await self._apply(fetched)

    def _reset(self) -> None:
        self.state = RegistryState()
        self.resets += 1
        self._sizes.clear()
        self._size = 0
        self._position = 0

    # ---- fetching

    async def _fetch(self, topic: TopicImage) -> _Fetched:
        name = TopicPartition(self.name, 0)
        partition = self._partitions.get(name)
        if partition is not None and partition.is_leader and partition.log is not None:
            try:
                with self._failures.translated(partition):
                    read = partition.read(
                        self._position,
                        bytes_max=_FETCH_BYTES_MAX,
                        isolation=Isolation.READ_COMMITTED,
                        min_one_batch=True,
                    )
                    data = b"" if read.records is None else await self._run(read.records.read)
            except KafkaError as error:
                raise self._failed(error.code) from None
            aborted = [_on_wire(each) for each in read.aborted_transactions or ()]
            return _Fetched(data, aborted, read.last_stable_offset)
        return await self._fetch_remote(topic)

    async def _run(self, read: object) -> bytes:
        data: bytes = await self._background.run(read)  # type: ignore[arg-type]
        return data

    async def _fetch_remote(self, topic: TopicImage) -> _Fetched:
        registration = topic.partitions.get(0)
        leader = -1 if registration is None else registration.leader
        if leader not in self._cluster.image.brokers:
            raise self._failed(ErrorCode.LEADER_NOT_AVAILABLE)
        partition = wire.FetchPartition(
            partition=0, fetch_offset=self._position, partition_max_bytes=_FETCH_BYTES_MAX
        )
        request = wire.FetchRequest(
            max_bytes=_FETCH_BYTES_MAX,
            isolation_level=Isolation.READ_COMMITTED,
            topics=[wire.FetchTopic(topic_id=topic.id, partitions=[partition])],
        )
        try:
            response = await self._peers.send(
                leader, PeerLane.SCHEMAS, request, versions.FETCH, timeout_ms=_TIMEOUT_MS
            )
        except ChannelError:
            raise self._failed(ErrorCode.NETWORK_EXCEPTION) from None
        if response.error_code or not response.responses:
            raise self._failed(ErrorCode(response.error_code or ErrorCode.UNKNOWN_SERVER_ERROR))
        data = response.responses[0].partitions[0]
        if data.error_code:
            raise self._failed(ErrorCode(data.error_code))
        return _Fetched(
            bytes(data.records or b""), data.aborted_transactions or (), data.last_stable_offset
        )

    def _failed(self, code: ErrorCode, reason: str = "") -> KafkaError:
        """Producers try again."""
        if code is ErrorCode.OFFSET_OUT_OF_RANGE:
            self._reset()
        return KafkaError(
            ErrorCode.NOT_ENOUGH_REPLICAS,
            f"the topic {self.name} cannot be read: {reason or code.name}",
        )

    # ---- applying

    async def _apply(self, fetched: _Fetched) -> None:
        data, position = fetched.data, self._position
        try:
            if is_small(data):
                found = read_schema_records(data, fetched.aborted, position)
            else:
                found = await self._background.compute_limited(
                    read_schema_records, data, fetched.aborted, position
                )
        except ProtocolError as error:
            # They may have been damaged on the way.
            raise self._failed(ErrorCode.CORRUPT_MESSAGE, str(error)) from None
        except (WorkerCrashedError, MemoryError) as error:
            raise self._unusable(f"its records cannot be read: {error}") from None
        started = self._clock.monotonic()
        for record in found.records:
            self._apply_record(TopicRecord(record.key, record.value), record.timestamp)
            if self._clock.monotonic() - started >= _STEP_SECONDS:
                await self._clock.sleep(0)
                started = self._clock.monotonic()
        if found.next_offset <= position:
            raise self._failed(ErrorCode.CORRUPT_MESSAGE)
        self._position = found.next_offset

    def _apply_record(self, record: TopicRecord, timestamp: int) -> None:
        change = decode_change(record, timestamp)
        if change is None:
            return
        if isinstance(change, SchemaWritten):
            key = change.version.subject, change.version.version
            size = len(record.value or b"")
            self._size += size - self._sizes.get(key, 0)
            self._sizes[key] = size
            if self._size > self._bytes_max:
                raise self._unusable(f"its schemas have more than {self._bytes_max} bytes")
        elif isinstance(change, SchemaRemoved):
            self._size -= self._sizes.pop((change.subject, change.version), 0)
        self.state.apply(change)

    def _unusable(self, reason: str) -> KafkaError:
        """It is not read again for a while, because that costs much."""
        self._reset()
        message = f"the topic {self.name} cannot be used: {reason}"
        _log.warning("%s", message)
        self._unusable_error = KafkaError(ErrorCode.INVALID_CONFIG, message)
        self._unusable_until = self._clock.monotonic() + _UNUSABLE_SECONDS
        return self._unusable_error


def _on_wire(aborted: AbortedTransaction) -> wire.AbortedTransaction:
    return wire.AbortedTransaction(
        producer_id=aborted.producer_id, first_offset=aborted.first_offset
    )
