"""Fetches from one leader for all partitions that this node follows there, one request at a time.

Between two requests a partition is in one of three states: in the fetch session, with an unchanged
fetch position; changed, so that the next request contains its new position; or resting after an
error or a throttle. The cost of a round depends on the partitions that received data or changed,
not on the number of followed partitions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from ottla.channels import ChannelError, versions
from ottla.channels.fetch_session import FetcherSession, PartitionKey
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.replication.fetched_partition import FetchedPartition
from ottla.replication.follower_context import FollowerContext, LeaderPeer
from ottla.replication.following import (
    apply_fetched,
    fetch_position,
    restart_in_range,
    truncate_to_agree,
)
from ottla.replication.leader_offsets import leader_offsets
from ottla.replication.partition import Partition
from ottla.replication.resting_partitions import RestingPartitions
from ottla.storage.epochs.epoch_cache import EpochEnd
from ottla.storage.errors import StorageError
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
    ReplicaState,
)

_log = logging.getLogger(__name__)

# How long a throttled partition rests before the throttle is checked again.
_THROTTLED_MS: Final = 100
# After the leader was unreachable; the peer has its own backoff.
_UNREACHED_SECONDS: Final = 0.02
# After an unexpected exception, which may repeat.
_BEWILDERED_SECONDS: Final = 1.0
_AUTHORIZATION_ERRORS: Final = (
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
)


class Fetcher:
    """Owned by `Fetchers`, which runs it as a task and adds and removes partitions meanwhile."""

    def __init__(self, context: FollowerContext, peer: LeaderPeer) -> None:
        self._context = context
        self._peer = peer
        self._session = FetcherSession()
        self._partitions: dict[PartitionKey, FetchedPartition] = {}
        self._changed: dict[PartitionKey, FetchedPartition] = {}
        self._resting = RestingPartitions()
        self._unsynced: list[tuple[FetchedPartition, asyncio.Future[None]]] = []
        self._out_of_range: list[FetchedPartition] = []
        self._woken = asyncio.Event()
        # Of the last attempt, empty if it succeeded.
        self._failure = ""

    def __len__(self) -> int:
        return len(self._partitions)

    @property
    def lags(self) -> Iterator[tuple[TopicPartition, int]]:
        """How far each partition is behind its leader, in records. Without those that have not been
        fetched yet. Reads a copy: the partitions may change between two of them."""
        for each in list(self._partitions.values()):
            if each.lag is not None:
                yield each.partition.name, each.lag

    @property
    def resting_count(self) -> int:
        """The partitions that are not fetched for a moment."""
        return len(self._resting)

    def add(self, partition: Partition) -> None:
        """Starts fetching, from the partition's log end offset and under its current leader
        epoch."""
        fetched = FetchedPartition(partition)
        self._resting.discard(fetched.key)
        self._partitions[fetched.key] = self._changed[fetched.key] = fetched
        self._woken.set()

    def remove(self, partition: Partition) -> None:
        self._drop(PartitionKey(partition.topic_id, partition.name.partition))

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            try:
                await self._fetch_once()
            except ChannelError as error:
                self._report(str(error))
                self._session.restart()
                await self._context.clock.sleep(_UNREACHED_SECONDS)
            except Exception:
                # If this task ended, these partitions would no longer be fetched.
                _log.exception("fetching failed")
                self._session.restart()
                await self._context.clock.sleep(_BEWILDERED_SECONDS)

    def _report(self, failure: str) -> None:
        """Logs a failure that is not the one of the previous attempt."""
        if failure != self._failure:
            _log.info("fetching failed: %s", failure)
            self._failure = failure

    async def _fetch_once(self) -> None:
        request = self._next_request()
        if request is None:
            await self._wait_for_work()
            return
        response: FetchResponse = await self._peer.send(
            request, versions.FETCH, timeout_ms=self._context.limits.socket_timeout_ms
        )
        self._failure = ""
        if self._session.answered(response):
            self._apply(response)
            await self._sync()
            await self._return_in_range()

    # ---- requests

    def _next_request(self) -> FetchRequest | None:
        """The next request; None if there is no partition to fetch."""
        context, limits = self._context, self._context.limits
        for fetched in self._resting.take_rested(context.clock.monotonic()):
            self._changed[fetched.key] = fetched
        changes = list(self._changes())
        if not changes and not self._session.partition_count:
            return None
        request = FetchRequest(
            replica_state=ReplicaState(
                replica_id=context.node_id, replica_epoch=context.broker_epoch()
            ),
            max_wait_ms=self._wait_ms(),
            min_bytes=limits.bytes_min,
            max_bytes=limits.response_bytes_max,
        )
        self._session.fill(request, changes)
        return request

    def _changes(self) -> Iterator[tuple[PartitionKey, FetchPartition]]:
        if self._session.is_new:
            changed: Iterable[FetchedPartition] = self._partitions.values()
        else:
            changed = self._changed.values()
        bytes_max = self._context.limits.bytes_max
        throttle = self._context.throttle
        self._changed = {}
        for fetched in list(changed):
            if fetched.key in self._resting:
                continue
            if not fetched.is_current:
                self._drop(fetched.key)
            elif fetched.is_behind and throttle.is_exceeded(fetched.partition):
                self._rest(fetched, _THROTTLED_MS)
            else:
                position = fetch_position(fetched.partition, bytes_max=bytes_max)
                fetched.fetch_offset = position.fetch_offset
                yield fetched.key, position

    def _wait_ms(self) -> int:
        """The request's max wait, at most until the next partition has rested."""
        wait_ms, end = self._context.limits.wait_ms_max, self._resting.next_end
        if end is None:
            return wait_ms
        left_ms = int((end - self._context.clock.monotonic()) * 1_000)
        return min(wait_ms, max(left_ms + 1, 0))

    async def _wait_for_work(self) -> None:
        self._woken.clear()
        clock, end = self._context.clock, self._resting.next_end
        if end is None:
            await self._woken.wait()
            return
        timer = clock.call_later(end - clock.monotonic(), self._woken.set)
        try:
            await self._woken.wait()
        finally:
            timer.cancel()

    # ---- responses

    def _apply(self, response: FetchResponse) -> None:
        now_ms = self._context.clock.now_ms()
        for topic in response.responses:
            for data in topic.partitions:
                fetched = self._partitions.get(PartitionKey(topic.topic_id, data.partition_index))
                # It may have been removed, or added again under another leader epoch, meanwhile.
                if fetched is not None and fetched.is_current and self._is_at_log_end(fetched):
                    self._apply_partition(fetched, data, now_ms)

    def _is_at_log_end(self, fetched: FetchedPartition) -> bool:
        return fetched.fetch_offset == fetched.partition.require_log().log_end_offset

    def _apply_partition(self, fetched: FetchedPartition, data: PartitionData, now_ms: int) -> None:
        if data.error_code != ErrorCode.NONE:
            self._refused(fetched, data.error_code)
            return
        try:
            if data.diverging_epoch is not None:
                leaders = EpochEnd(data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
                truncate_to_agree(fetched.partition, leaders, now_ms=now_ms)
                self._changed[fetched.key] = fetched
            else:
                self._append(fetched, data, now_ms)
        except (KafkaError, ProtocolError, StorageError) as error:
            _log.warning("%s: cannot append what was fetched: %s", fetched.partition.name, error)
            self._rest_after_error(fetched)
        except OSError as error:
            self._storage_failed(fetched, error)
        else:
            fetched.succeeded()

    def _append(self, fetched: FetchedPartition, data: PartitionData, now_ms: int) -> None:
        partition = fetched.partition
        if apply_fetched(partition, data, now_ms=now_ms):
            self._changed[fetched.key] = fetched
        elif data.records:
            # In a session the leader sends them again only if they are requested again.
            raise KafkaError(
                ErrorCode.CORRUPT_MESSAGE,
                f"the leader sent {len(data.records)} bytes without a complete batch of leader "
                f"epoch {partition.leader_epoch} or an earlier one",
            )
        log = partition.require_log()
        fetched.lag = max(data.high_watermark - log.log_end_offset, 0)
        if data.records:
            self._context.throttle.record(partition, len(data.records))
            if log.config.syncs_before_acknowledging:
                durable = self._context.commit.when_durable(log, log.log_end_offset)
                self._unsynced.append((fetched, durable))

    def _refused(self, fetched: FetchedPartition, error: int) -> None:
        if error == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._session.forget(fetched.key)
            self._out_of_range.append(fetched)
        elif error == ErrorCode.FENCED_LEADER_EPOCH:
            # The leader has newer metadata. When it arrives here, the partition is added again.
            self._drop(fetched.key)
        else:
            if error in _AUTHORIZATION_ERRORS:
                _log.warning(
                    "%s: the leader refuses this node's fetches (%s): add the principal with which "
                    "this node connects to brokers to super.users on all nodes",
                    fetched.partition.name,
                    ErrorCode(error).name,
                )
            else:
                _log.debug("%s: the leader responded with error %d", fetched.partition.name, error)
            self._rest_after_error(fetched)

    async def _sync(self) -> None:
        """Waits until the fetched records are durable: the next fetch acknowledges them to the
        leader."""
        unsynced, self._unsynced = self._unsynced, []
        for fetched, durable in unsynced:
            try:
                # Records that were truncated meanwhile need not be durable.
                with suppress(KafkaError):
                    await durable
            except OSError as error:
                self._storage_failed(fetched, error)

    async def _return_in_range(self) -> None:
        """Requests the leader's offsets for partitions whose fetch was out of range."""
        lost, self._out_of_range = self._out_of_range, []
        if not lost:
            return
        try:
            offsets = await leader_offsets(
                self._peer,
                [fetched.partition for fetched in lost],
                node_id=self._context.node_id,
                timeout_ms=self._context.limits.socket_timeout_ms,
            )
        except ChannelError as error:
            _log.info("cannot get the leader's offsets: %s", error)
            offsets = {}
        now_ms = self._context.clock.now_ms()
        for fetched in lost:
            found = offsets.get(fetched.partition.name)
            if self._partitions.get(fetched.key) is not fetched or not fetched.is_current:
                continue
            if found is None:
                self._rest_after_error(fetched)
                continue
            try:
                restart_in_range(
                    fetched.partition, leader_start=found.start, leader_end=found.end, now_ms=now_ms
                )
            except OSError as error:
                self._storage_failed(fetched, error)
            else:
                # Not at once: if the offset is still out of range, this would loop.
                self._rest_after_error(fetched)

    # ---- removing and resting partitions

    def _drop(self, key: PartitionKey) -> None:
        self._partitions.pop(key, None)
        self._changed.pop(key, None)
        self._resting.discard(key)
        self._session.forget(key)

    def _storage_failed(self, fetched: FetchedPartition, error: OSError) -> None:
        self._context.storage_failed(fetched.partition, error)
        if fetched.partition.log is None:
            self._drop(fetched.key)
        else:
            # The error may be temporary, such as too many open files.
            self._rest_after_error(fetched)

    def _rest_after_error(self, fetched: FetchedPartition) -> None:
        self._rest(fetched, fetched.backoff_ms(self._context.limits.backoff_ms_max))

    def _rest(self, fetched: FetchedPartition, milliseconds: int) -> None:
        self._session.forget(fetched.key)
        self._changed.pop(fetched.key, None)
        until = self._context.clock.monotonic() + milliseconds / 1_000
        self._resting.add(fetched, until=until)
