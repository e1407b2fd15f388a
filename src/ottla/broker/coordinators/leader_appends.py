"""Appends a node's own batches to partitions, wherever their leaders are, with acks=all."""

from __future__ import annotations

import asyncio
from typing import Final

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.partition_log import PartitionLog
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.channels import versions
from ottla.channels.errors import ChannelError
from ottla.controller.quorum_seams import Seams
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.replication.partition import ACKS_ALL, Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.background import WorkerCrashedError
from ottla.storage.batches.opened_batch import OpenedBatch, open_batch, open_inline
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log_config import LogConfig
from ottla.wire.messages import produce as wire

_PAUSE_SECONDS: Final = 0.2
_TIMEOUT_MS: Final = 5_000


class LeaderAppends:
    """Owned by the node's loop. `lane` is the connection to other nodes."""

    def __init__(
        self,
        cluster: ClusterView,
        partitions: Partitions,
        peers: BrokerPeers,
        commit: GroupCommit,
        failures: StorageFailures,
        seams: Seams,
        lane: PeerLane,
    ) -> None:
        self._cluster = cluster
        self._partitions = partitions
        self._peers = peers
        self._commit = commit
        self._failures = failures
        self._clock = seams.clock
        self._background = seams.background
        self._lane = lane

    async def append(self, target: TopicPartition, batch: bytearray, *, seconds: float) -> None:
        """Tries again until the time is up, and then raises the last error."""
        ends_at = self._clock.monotonic() + seconds
        while True:
            code = await self._try(target, batch)
            if code is ErrorCode.NONE:
                return
            if self._clock.monotonic() >= ends_at:
                raise KafkaError(
                    ErrorCode.COORDINATOR_NOT_AVAILABLE, f"cannot append to {target}: {code.name}"
                )
            await self._clock.sleep(_PAUSE_SECONDS)

    async def _try(self, target: TopicPartition, batch: bytearray) -> ErrorCode:
        topic = self._cluster.image.topics.by_name.get(target.topic)
        if topic is None or target.partition not in topic.partitions:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        partition = self._partitions.get(target)
        if partition is not None and partition.is_leader:
            return await self._append_here(partition, batch)
        leader = topic.partitions[target.partition].leader
        if leader not in self._cluster.image.brokers:
            return ErrorCode.LEADER_NOT_AVAILABLE
        data = wire.PartitionProduceData(index=target.partition, records=bytes(batch))
        request = wire.ProduceRequest(
            acks=ACKS_ALL,
            timeout_ms=_TIMEOUT_MS,
            topic_data=[wire.TopicProduceData(topic_id=topic.id, partition_data=[data])],
        )
        try:
            response = await self._peers.send(
                leader, self._lane, request, versions.PRODUCE, timeout_ms=_TIMEOUT_MS
            )
        except ChannelError:
            return ErrorCode.NETWORK_EXCEPTION
        return ErrorCode(response.responses[0].partition_responses[0].error_code)

    async def _append_here(self, partition: Partition, batch: bytearray) -> ErrorCode:
        log = PartitionLog(self._commit, self._failures, partition)
        records, now_ms = bytearray(batch), self._clock.now_ms()
        try:
            opened = await self._open(partition, bytes(batch), now_ms)
            with self._failures.translated(partition):
                result = partition.append(records, now_ms=now_ms, acks=ACKS_ALL, opened=opened)
        except KafkaError as error:
            return error.code
        except WorkerCrashedError:
            return ErrorCode.UNKNOWN_SERVER_ERROR
        if log.is_committed(result.last_offset + 1):
            return ErrorCode.NONE
        committed: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
        log.when_committed(result.last_offset + 1, committed.set_result)
        return await committed

    async def _open(self, partition: Partition, batch: bytes, now_ms: int) -> OpenedBatch | None:
        """None if the batch can be appended as it is. A large one is opened in a worker."""
        config, name = partition.require_log().config, partition.name
        if not config.opens_batches:
            return None
        opened = open_inline(batch, config, name=name, now_ms=now_ms)
        if opened is None:
            found = await self._background.compute_soon(_open, batch, config, name, now_ms)
            opened = found._replace(config=config)
        return opened


def _open(batch: bytes, config: LogConfig, name: TopicPartition, now_ms: int) -> OpenedBatch:
    return open_batch(batch, config, name=name, now_ms=now_ms)
