"""A coordinator's shards: one per partition of its internal topic that this node leads.

A shard is created when the node becomes leader. It first replays its partition, in steps of a few
milliseconds; until that is done, requests get COORDINATOR_LOAD_IN_PROGRESS. It is closed when the
node stops being leader.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.pending import Pending
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.coordinator.runtime.placement import partition_for
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.replication.partition import Partition
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.storage.files.file_slice import FileSlice
from ottla.storage.log.group_commit import GroupCommit
from ottla.wire.errors import ProtocolError
from ottla.wire.records import Codec
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.runtime.shard import Operation, Postpone, Refuse, Shard
    from ottla.coordinator.runtime.state_machine import StateMachine, Timers
    from ottla.coordinator.runtime.transactional import TransactionalWriter, TransactionMarker
    from ottla.coordinator.runtime.waiting_answer import Reply

_log = logging.getLogger(__name__)

M = TypeVar("M", bound="StateMachine")

# Loading yields to the loop after this long.
_STEP_SECONDS: Final = 0.002
# The pause before damaged data is read again. It doubles at each attempt.
_READ_AGAIN_SECONDS: Final = 0.1
_READ_AGAIN_SECONDS_MAX: Final = 10.0


class CoordinatorShards(Generic[M]):
    """Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        commit: GroupCommit,
        failures: StorageFailures,
        clock: Clock,
        tasks: Tasks,
        background: Background,
        topic: str,
        make_machine: Callable[[Partition, Timers], M],
        *,
        write_timeout_ms: int,
        load_bytes: int,
        codec: Codec,
    ) -> None:
        self._cluster = cluster
        self._commit = commit
        self._clock = clock
        self._tasks = tasks
        self._failures = failures
        self._background = background
        self.topic = topic
        self._make_machine = make_machine
        self._write_timeout_ms = write_timeout_ms
        self._load_bytes = load_bytes
        self._codec = codec
        self._shards: dict[int, Shard[M]] = {}

    @property
    def all(self) -> list[Shard[M]]:
        return list(self._shards.values())

    # ---- requests

    def run(self, key: str, operation: Operation[M], refuse: Refuse) -> Message | Pending:
        """Runs an operation on the shard of `key`. Returns its response; `refuse` turns an error
        into one."""
        pending = Pending()
        self.submit(key, operation, pending.resolve, refuse)
        return pending.answer

    def submit(
        self,
        key: str,
        operation: Operation[M],
        reply: Reply,
        refuse: Refuse,
        *,
        writer: TransactionalWriter | None = None,
        postpone: Postpone | None = None,
    ) -> None:
        shard = self.shard_of(key)
        if shard is None:
            reply(
                refuse(
                    KafkaError(
                        ErrorCode.NOT_COORDINATOR,
                        f"this node is not the coordinator of {key!r}; look it up with "
                        "FindCoordinator",
                    )
                )
            )
        else:
            shard.submit(operation, reply, refuse, writer=writer, postpone=postpone)

    def end_transaction(
        self, index: int, marker: TransactionMarker, callback: Callable[[ErrorCode], None]
    ) -> None:
        """Writes a transaction's end marker to partition `index` of the topic."""
        shard = self._shards.get(index)
        if shard is None:
            callback(ErrorCode.NOT_COORDINATOR)
        else:
            shard.end_transaction(marker, callback)

    def partition_of(self, key: str) -> TopicPartition | None:
        """The partition with the state of `key`; None if the topic does not exist yet."""
        topic = self._cluster.image.topics.by_name.get(self.topic)
        if topic is None:
            return None
        return TopicPartition(self.topic, partition_for(key, len(topic.partitions)))

    def shard_of(self, key: str) -> Shard[M] | None:
        topic = self._cluster.metadata.image.topics.by_name.get(self.topic)
        if topic is None:
            return None
        return self._shards.get(partition_for(key, len(topic.partitions)))

    def perform(self, index: int, operation: Operation[M]) -> None:
        """Runs an operation without a response, if this node still leads the partition."""
        shard = self._shards.get(index)
        if shard is not None:
            shard.perform(operation)

    # ---- leadership

    def follow(self, partition: Partition) -> None:
        """Creates the partition's shard if this node is its leader, else closes it."""
        index = partition.name.partition
        if not partition.is_leader or partition.log is None:
            self.forget(partition)
        elif index not in self._shards:
            shard = self._shards[index] = self._make_shard(partition)
            if partition.log.log_start_offset == partition.log.log_end_offset:
                shard.finish_loading()
            else:
                self._tasks.start(f"load {partition.name}", self._load(shard, partition))

    def _make_shard(self, partition: Partition) -> Shard[M]:
        # Imported with the first partition, like the state machines.
        from ottla.broker.coordinators.partition_log import PartitionLog
        from ottla.coordinator.runtime.shard import Shard

        return Shard(
            partition.name,
            PartitionLog(self._commit, self._failures, partition),
            self._clock,
            partial(self._make_machine, partition),
            write_timeout_ms=self._write_timeout_ms,
            codec=self._codec,
        )

    def close(self) -> None:
        """Closes all shards at shutdown. Waiting requests get NOT_COORDINATOR."""
        for shard in self.all:
            shard.close()
        self._shards.clear()

    def forget(self, partition: Partition) -> None:
        shard = self._shards.pop(partition.name.partition, None)
        if shard is not None:
            shard.close()

    async def _load(self, shard: Shard[M], partition: Partition) -> None:
        clock = self._clock
        started = clock.monotonic()
        try:
            await self._replay(shard, partition)
        except OSError as error:
            self._failures.partition_failed(partition, error)
        except (ProtocolError, KafkaError) as error:
            _log.error("cannot load the coordinator of %s: %s", partition.name, error)
            self.forget(partition)
        if shard.is_loading:
            shard.finish_loading()
            took_ms = (clock.monotonic() - started) * 1_000
            _log.info("%s: coordinator loaded in %d ms", partition.name, took_ms)

    async def _replay(self, shard: Shard[M], partition: Partition) -> None:
        from ottla.coordinator.runtime.replay import Replay

        log = partition.require_log()
        replay = Replay(partition.name, shard.machine, start_offset=log.log_start_offset)
        # Only this shard appends to the partition, and only after it is loaded.
        end_offset = log.log_end_offset
        pause = _READ_AGAIN_SECONDS
        while replay.position < end_offset and shard.is_loading:
            found = log.read(
                max(replay.position, log.log_start_offset),
                bytes_max=self._load_bytes,
                upper_offset=end_offset,
            )
            if found is None:
                break
            position = replay.position
            try:
                await self._in_steps(replay.apply(await self._read(found)))
                if replay.position == position:
                    raise ProtocolError("there is no complete batch")
            except ProtocolError as error:
                _log.error(
                    "%s: data read at offset %d is corrupt; reading it again in %.1f s. If this "
                    "repeats, elect another leader (ottla elect) and replace this replica: %s",
                    partition.name,
                    replay.position,
                    pause,
                    error,
                )
                await self._clock.sleep(pause)
                pause = min(2 * pause, _READ_AGAIN_SECONDS_MAX)
            else:
                pause = _READ_AGAIN_SECONDS
        await self._in_steps(replay.finish())

    async def _in_steps(self, work: Iterator[None]) -> None:
        clock = self._clock
        started = clock.monotonic()
        for _ in work:
            if clock.monotonic() - started > _STEP_SECONDS:
                await clock.sleep(0)
                started = clock.monotonic()

    async def _read(self, found: FileSlice) -> bytes:
        cached = found.read_cached()
        return await self._background.run(found.read) if cached is None else bytes(cached)
