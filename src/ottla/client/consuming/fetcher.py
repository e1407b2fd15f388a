"""Fetches ahead of the application: from each node one request at a time, as long as there is room.

A partition is asked for while it has less in memory than two responses may bring, so that the next
response is on its way while the application reads the last one. All responses together stay below
`prefetch.max.bytes`, whatever the application does; only a single batch may be larger.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from typing import Any, Final

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster, Lane
from ottla.client.cluster.retries import final_error
from ottla.client.consuming.assigned_partition import AssignedPartition, Phase
from ottla.client.consuming.assignment import PartitionAssignment
from ottla.client.consuming.fetch_node import FetchNode
from ottla.client.consuming.fetch_responses import FetchResponses
from ottla.client.consuming.prefetch_budget import PrefetchBudget
from ottla.client.consuming.properties import ConsumerSettings
from ottla.model import ZERO_UUID, ErrorCode, KafkaError
from ottla.wire.messages.fetch import FetchRequest

_log = logging.getLogger(__name__)

# Not worth a request.
_ROOM_MIN: Final = 64 * 1024
_STALE_TOPICS: Final = frozenset(
    {ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, ErrorCode.UNKNOWN_TOPIC_ID}
)


class RecordFetcher:
    """Belongs to a consumer. `pump` is called whenever a partition may be fetched."""

    def __init__(
        self,
        cluster: ClientCluster,
        settings: ConsumerSettings,
        assignment: PartitionAssignment,
        budget: PrefetchBudget,
        responses: FetchResponses,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._assignment = assignment
        self._budget = budget
        self._responses = responses
        self._nodes: dict[int, FetchNode] = {}
        self._is_refreshing = False
        self._is_pump_due = False

    def pump_soon(self) -> None:
        """Pumps once after the current callbacks, however often it is called."""
        if not self._is_pump_due:
            self._is_pump_due = True
            self._cluster.clock.call_later(0, self.pump)

    def pump(self) -> None:
        """Starts requests to the nodes that have none in flight."""
        self._is_pump_due = False
        if self._cluster.tasks.is_closed:
            return
        for node_id in self._wanted():
            node = self._nodes.get(node_id)
            if node is None:
                node = self._nodes[node_id] = FetchNode(node_id, self._settings)
            if not node.is_fetching:
                node.is_fetching = True
                self._cluster.tasks.start("fetch", self._fetch_from(node))

    async def end_sessions(self) -> None:
        """Ends the sessions at the nodes that are connected, so that they take no room there."""
        await asyncio.gather(*map(self._end_session, self._nodes.values()))

    async def _end_session(self, node: FetchNode) -> None:
        # The other connection may wait for the response to a long poll.
        lanes = (Lane.MAIN, Lane.FETCH)
        lane = next(
            (each for each in lanes if self._cluster.is_connected(node.node_id, lane=each)), None
        )
        request = None if lane is None else node.last_request()
        if lane is None or request is None:
            return
        try:
            await self._cluster.send(node.node_id, request, lane=lane)
        except ChannelError as error:
            _log.debug("cannot end the fetch session at node %d: %s", node.node_id, error)

    async def _fetch_from(self, node: FetchNode) -> None:
        """Fetches until nothing is wanted from the node."""
        try:
            while (request := self._next_request(node)) is not None:
                self._budget.reserve(node.reserved)
                try:
                    await self._fetch(node, request)
                finally:
                    self._budget.release(node.reserved)
                    node.reserved = 0
        finally:
            node.is_fetching = False
        self._pump_later()

    def _next_request(self, node: FetchNode) -> FetchRequest | None:
        room = self._budget.room
        if room < min(_ROOM_MIN, self._budget.bytes_max) and self._budget.used:
            self._drop_paused()
            return None
        wanted = self._wanted().get(node.node_id)
        if not wanted or node.retry_at > self._cluster.clock.monotonic():
            return None
        topics = self._cluster.metadata.topics
        node.reserved = self._bytes_max(len(wanted), room)
        return node.request(
            [
                (each, topics[each.name.topic].topic_id if each.name.topic in topics else ZERO_UUID)
                for each in wanted
            ],
            bytes_max=node.reserved,
            is_short=any(
                self._is_full(each) and self._node_of(each) == node.node_id
                for each in self._assignment
            ),
        )

    async def _fetch(self, node: FetchNode, request: FetchRequest) -> None:
        try:
            response: Any = await self._cluster.send(
                node.node_id,
                request,
                lane=Lane.FETCH,
                version_max=node.version_max,
                timeout_ms=self._cluster.settings.request_timeout_ms
                + self._settings.fetch_wait_ms_max,
            )
        except ChannelError as error:
            _log.debug("cannot fetch from node %d: %s", node.node_id, error)
            node.lost()
            node.failures += 1
            clock = self._cluster.clock
            node.retry_at = clock.monotonic() + self._cluster.backoff(node.failures)
            self._drop_replica(node.node_id)
            final = final_error(error, f"fetching from node {node.node_id}")
            if final is not None:
                self._responses.fail(final)
            self._refresh()
            return
        node.failures = 0
        answers = node.answers(response)
        if answers is None:
            if response.error_code in _STALE_TOPICS:
                self._refresh()
                node.retry_at = self._cluster.clock.monotonic() + self._cluster.backoff(1)
            return
        if self._responses.take(node.node_id, answers, response.node_endpoints):
            self._refresh()

    def _bytes_max(self, partition_count: int, room: int) -> int:
        """What a response may have. All nodes get the same share, so that the long polls of some
        do not keep the others from being asked."""
        nodes = {self._node_of(each) for each in self._assignment}
        return max(
            min(
                self._settings.fetch_bytes_max,
                self._settings.partition_bytes_max * partition_count,
                self._budget.bytes_max // max(len(nodes), 1),
                room,
            ),
            1,
        )

    def _wanted(self) -> dict[int, list[AssignedPartition]]:
        """The partitions to fetch now, by node."""
        now = self._cluster.clock.monotonic()
        by_node: dict[int, list[AssignedPartition]] = defaultdict(list)
        for partition in self._assignment:
            if (
                partition.phase is not Phase.FETCHING
                or partition.is_paused
                or partition.is_revoking
                or partition.retry_at > now
                or self._is_full(partition)
            ):
                continue
            node_id = self._node_of(partition)
            if node_id is None:
                self._refresh()
            else:
                by_node[node_id].append(partition)
        return by_node

    def _is_full(self, partition: AssignedPartition) -> bool:
        return partition.queue.byte_count >= 2 * self._settings.partition_bytes_max

    def _node_of(self, partition: AssignedPartition) -> int | None:
        replica = partition.read_replica
        if replica is not None:
            is_old = partition.read_replica_until < self._cluster.clock.monotonic()
            if not is_old and replica in self._cluster.metadata.nodes:
                return replica
            partition.read_replica = None
        leader = self._cluster.leader(partition.name)
        return None if leader is None else leader.node_id

    def _drop_replica(self, node_id: int) -> None:
        """Goes back to the leaders when a follower fails."""
        for partition in self._assignment:
            if partition.read_replica == node_id:
                partition.read_replica = None

    def _drop_paused(self) -> None:
        """Records of paused partitions must not keep the others from being fetched."""
        if any(each.is_deliverable and each.queue for each in self._assignment):
            return
        for partition in self._assignment:
            if partition.is_paused and partition.queue:
                partition.drop_fetched()

    def _pump_later(self) -> None:
        """When the first of those that have failed may be tried again."""
        if self._cluster.tasks.is_closed:
            return
        now = self._cluster.clock.monotonic()
        times = [each.retry_at for each in self._assignment if each.retry_at > now]
        times += [node.retry_at for node in self._nodes.values() if node.retry_at > now]
        if times:
            self._cluster.clock.call_later(min(times) - now, self.pump_soon)

    def _refresh(self) -> None:
        """Looks for leaders, once at a time."""
        if not self._is_refreshing and not self._cluster.tasks.is_closed:
            self._is_refreshing = True
            self._cluster.tasks.start("leaders", self._refresh_leaders())

    async def _refresh_leaders(self) -> None:
        try:
            await self._cluster.refresh({name.topic for name in self._assignment.names})
        except (ChannelError, KafkaError) as error:
            _log.debug("cannot refresh metadata: %s", error)
        else:
            missing = any(self._node_of(each) is None for each in self._assignment)
            if not missing:
                return
        finally:
            self._is_refreshing = False
            self._cluster.clock.call_later(self._cluster.backoff(1), self.pump_soon)
