"""Requests to share coordinators: those of group coordinators and of the leaders of partitions.

A request is repeated until the share coordinator has answered it, or until its time is up: all of
them can be repeated. Requests to this node's own coordinators are plain calls. Those to another
node are collected while one of the same group is in flight.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators import share_state_apis as apis
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.internal_topics import create_internal_topic
from ottla.broker.coordinators.share_state_apis import ShareStateApi
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.channels.errors import ChannelError
from ottla.metadata import NO_LEADER
from ottla.model import ErrorCode, KafkaError
from ottla.model.internal_topics import SHARE_GROUP_STATE
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.tasks import Tasks
from ottla.shares.share_key import ShareKey
from ottla.wire.messages import delete_share_group_state as delete_wire
from ottla.wire.messages import initialize_share_group_state as initialize_wire
from ottla.wire.messages import read_share_group_state as read_wire
from ottla.wire.messages import read_share_group_state_summary as summary_wire
from ottla.wire.messages import write_share_group_state as write_wire

if TYPE_CHECKING:
    from ottla.coordinator.shares.coordinator import ShareCoordinator

_RETRIED: Final = frozenset(
    {
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NETWORK_EXCEPTION,
    }
)
_BACKOFF_SECONDS: Final = 0.02
_BACKOFF_SECONDS_MAX: Final = 1.0
_JITTER: Final = 0.2
# Longer than an election, and shorter than a client waits for the response that depends on it.
_PATIENCE_SECONDS: Final = 15.0
_REQUEST_TIMEOUT_MS: Final = 5_000


class _Call(NamedTuple):
    api: ShareStateApi
    key: ShareKey
    data: Any
    # Called once, with the result of the partition.
    callback: Callable[[Any], None]
    ends_at: float
    attempts: int = 0


class ShareStates:
    """Owned by the node's loop. Its tasks end with the node's."""

    def __init__(
        self,
        cluster: ClusterView,
        shards: CoordinatorShards[ShareCoordinator],
        peers: BrokerPeers,
        changes: MetadataChanges,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
    ) -> None:
        self._cluster = cluster
        self._shards = shards
        self._peers = peers
        self._changes = changes
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._queues: defaultdict[tuple[int, str, ShareStateApi], list[_Call]] = defaultdict(list)
        self._busy: set[tuple[int, str, ShareStateApi]] = set()
        self._is_creating = False

    def initialize(
        self,
        key: ShareKey,
        *,
        state_epoch: int,
        start_offset: int,
        callback: Callable[[initialize_wire.PartitionResult], None],
    ) -> None:
        data = initialize_wire.PartitionData(
            partition=key.partition, state_epoch=state_epoch, start_offset=start_offset
        )
        self._call(apis.INITIALIZE, key, data, callback)

    def read(
        self,
        key: ShareKey,
        *,
        leader_epoch: int,
        callback: Callable[[read_wire.PartitionResult], None],
    ) -> None:
        data = read_wire.PartitionData(partition=key.partition, leader_epoch=leader_epoch)
        self._call(apis.READ, key, data, callback)

    def write(
        self,
        key: ShareKey,
        data: write_wire.PartitionData,
        callback: Callable[[write_wire.PartitionResult], None],
    ) -> None:
        self._call(apis.WRITE, key, data, callback)

    def delete(
        self, key: ShareKey, callback: Callable[[delete_wire.PartitionResult], None]
    ) -> None:
        data = delete_wire.PartitionData(partition=key.partition)
        self._call(apis.DELETE, key, data, callback)

    def summary(
        self, key: ShareKey, callback: Callable[[summary_wire.PartitionResult], None]
    ) -> None:
        data = summary_wire.PartitionData(partition=key.partition)
        self._call(apis.SUMMARY, key, data, callback)

    # ---- calls

    def _call(
        self, api: ShareStateApi, key: ShareKey, data: Any, callback: Callable[[Any], None]
    ) -> None:
        ends_at = self._clock.monotonic() + _PATIENCE_SECONDS
        self._try(_Call(api, key, data, callback, ends_at))

    def _try(self, call: _Call) -> None:
        api, key = call.api, call.key
        node_id = self._coordinator_of(key)
        if node_id == self._cluster.node_id:
            self._shards.submit(
                key.text,
                partial(api.operation, key, call.data),
                partial(self._answered, call),
                partial(api.refuse, key),
            )
        elif node_id == NO_LEADER:
            self._create_topic()
            self._failed(call, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        else:
            lane = (node_id, key.group_id, api)
            self._queues[lane].append(call)
            if lane not in self._busy and not self._tasks.is_closed:
                self._busy.add(lane)
                self._tasks.start(f"share state at {node_id}", self._send_all(lane))

    def _coordinator_of(self, key: ShareKey) -> int:
        name = self._shards.partition_of(key.text)
        if name is None:
            return NO_LEADER
        return self._cluster.image.topics.by_name[name.topic].partitions[name.partition].leader

    def _answered(self, call: _Call, result: Any) -> None:
        error = result.error_code
        if error in _RETRIED or (
            error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and self._is_known(call.key)
        ):
            self._retry(call, result)
        else:
            call.callback(result)

    def _is_known(self, key: ShareKey) -> bool:
        """Whether the partition exists, so that its coordinator will soon know it too."""
        topic = self._cluster.image.topics.by_id.get(key.topic_id)
        return topic is not None and key.partition in topic.partitions

    def _failed(self, call: _Call, code: ErrorCode) -> None:
        error = KafkaError(code, f"the share coordinator of {call.key.text!r} cannot be reached")
        self._retry(call, call.api.refuse(call.key, error))

    def _retry(self, call: _Call, result: Any) -> None:
        if self._tasks.is_closed or self._clock.monotonic() >= call.ends_at:
            call.callback(result)
            return
        pause = min(_BACKOFF_SECONDS * 2**call.attempts, _BACKOFF_SECONDS_MAX)
        again = call._replace(attempts=call.attempts + 1)
        self._clock.call_later(
            self._dice.jitter(pause, fraction=_JITTER), partial(self._try, again)
        )

    # ---- requests to other nodes

    async def _send_all(self, lane: tuple[int, str, ShareStateApi]) -> None:
        try:
            while calls := self._take(lane):
                await self._send(lane[0], lane[2], calls)
        finally:
            self._busy.discard(lane)

    def _take(self, lane: tuple[int, str, ShareStateApi]) -> list[_Call]:
        """Takes at most one call per partition, because results are matched by partition."""
        taken: dict[ShareKey, _Call] = {}
        left: list[_Call] = []
        for call in self._queues.pop(lane, ()):
            if call.key in taken:
                left.append(call)
            else:
                taken[call.key] = call
        if left:
            self._queues[lane] = left
        return [taken[key] for key in sorted(taken)]

    async def _send(self, node_id: int, api: ShareStateApi, calls: list[_Call]) -> None:
        request = api.request_of([(call.key, call.data) for call in calls])
        try:
            response = await self._peers.send(
                node_id, PeerLane.SHARES, request, api.version, timeout_ms=_REQUEST_TIMEOUT_MS
            )
        except ChannelError:
            for call in calls:
                self._failed(call, ErrorCode.NETWORK_EXCEPTION)
            return
        results = {
            (topic.topic_id, result.partition): result
            for topic in response.results
            for result in topic.partitions
        }
        for call in calls:
            result = results.get((call.key.topic_id, call.key.partition))
            if result is None:
                self._failed(call, ErrorCode.UNKNOWN_SERVER_ERROR)
            else:
                self._answered(call, result)

    def _create_topic(self) -> None:
        """Creates `__share_group_state` with the first request."""
        is_missing = SHARE_GROUP_STATE not in self._cluster.image.topics.by_name
        if is_missing and not self._is_creating and not self._tasks.is_closed:
            self._is_creating = True
            self._tasks.start(f"create {SHARE_GROUP_STATE}", self._create())

    async def _create(self) -> None:
        try:
            await create_internal_topic(self._cluster, self._changes, SHARE_GROUP_STATE)
        except KafkaError:
            # Logged; the next attempt of the request tries again.
            pass
        finally:
            self._is_creating = False
