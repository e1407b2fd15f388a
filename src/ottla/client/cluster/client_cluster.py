"""A cluster as one client sees it: its nodes, its metadata and its coordinators.

What producers, consumers and administration build on. `send` and its relatives make one attempt and
raise ChannelError or KafkaError; `retrying` repeats an attempt until a deadline and raises only
ClientErrors, which are public.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, TypeVar

from ottla.channels import ChannelError, NotSentError, UnknownRequestError
from ottla.client.cluster.coordinators import (
    CoordinatorCache,
    CoordinatorKind,
    find_request,
    found_node,
)
from ottla.client.cluster.deadlines import within
from ottla.client.cluster.first_connection import connect_first
from ottla.client.cluster.metadata import (
    ClusterMetadata,
    ClusterNode,
    PartitionLeader,
)
from ottla.client.cluster.metadata_refresh import MetadataRefresh
from ottla.client.cluster.node import Lane
from ottla.client.cluster.node_pool import NodePool
from ottla.client.cluster.retries import (
    STALE_METADATA,
    backoff_seconds,
    final_error,
    is_refusal,
    origin,
)
from ottla.client.cluster.seams import ClientSeams
from ottla.client.errors import TimedOutError
from ottla.client.settings.common import ClusterSettings
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.runtime.tasks import Tasks
from ottla.wire.apis import ApiKey
from ottla.wire.schema import Message

T = TypeVar("T")

_log = logging.getLogger(__name__)

_COORDINATOR_MOVED: Final = frozenset(
    {ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE}
)


class ClientCluster:
    """One per client, owned by one event loop; ended by `close`. Connects when it is used."""

    def __init__(self, settings: ClusterSettings, seams: ClientSeams | None = None) -> None:
        seams = seams or ClientSeams.system()
        self.settings = settings
        self.clock = seams.clock
        self.dice = seams.dice
        self._observe = seams.observe
        # Tasks of the whole client, which `close` cancels.
        self.tasks = Tasks(_task_failed)
        self._metadata = MetadataRefresh(
            settings, seams.clock, self.tasks, self._send_repeatable, self._metadata_changed
        )
        self._nodes = NodePool(settings, seams, self.tasks, lambda: self._metadata.current)
        self._coordinators = CoordinatorCache()
        self._on_metadata: list[Callable[[], object]] = []

    # ---- metadata

    @property
    def metadata(self) -> ClusterMetadata:
        """The latest snapshot."""
        return self._metadata.current

    async def refresh(self, topics: Iterable[str] | None = ()) -> ClusterMetadata:
        """Requests the metadata of these topics and of the watched ones; None stands for all.
        Raises ChannelError or KafkaError if no node answers."""
        return await self._metadata.refresh(topics)

    def watch_topics(self, topics: Iterable[str]) -> None:
        """Every refresh includes these topics. Replaces the earlier set."""
        self._metadata.watch(topics)

    def on_metadata(self, callback: Callable[[], object]) -> None:
        """Calls back after each change of the metadata."""
        self._on_metadata.append(callback)

    def leader(self, partition: TopicPartition) -> PartitionLeader | None:
        return self._metadata.current.leader(partition)

    def note_leader(
        self, partition: TopicPartition, leader: PartitionLeader, endpoints: Iterable[Any] = ()
    ) -> None:
        """Notes a leader and the nodes that a response to Produce or Fetch has named (KIP-951),
        unless it is older than the known one."""
        nodes = [ClusterNode(each.node_id, each.host, each.port, each.rack) for each in endpoints]
        self._metadata.replace(self.metadata.with_leader(partition, leader, nodes))

    async def wait_leader(self, partition: TopicPartition, *, deadline: float) -> PartitionLeader:
        """Raises TimedOutError if the partition has no leader until then."""

        async def attempt() -> PartitionLeader:
            if self.leader(partition) is None:
                await self.refresh((partition.topic,))
            if (leader := self.leader(partition)) is not None:
                return leader
            code = self.metadata.errors.get(partition.topic)
            if code is None and self.metadata.partition(partition) is None:
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            raise KafkaError(code or ErrorCode.LEADER_NOT_AVAILABLE, f"{partition} has no leader")

        return await self.retrying(
            f"waiting for the leader of {partition}", attempt, deadline=deadline
        )

    # ---- requests

    async def send(
        self,
        node_id: int,
        request: Message,
        *,
        lane: Lane = Lane.MAIN,
        version_max: int | None = None,
        timeout_ms: int | None = None,
    ) -> Any:
        """Returns the response of one node. Raises ChannelError.

        While the node is connected, requests are sent in the order of the calls.
        """
        try:
            response = await self._nodes.connection(node_id, lane).send(
                request,
                version_max=version_max,
                timeout_ms=timeout_ms or self.settings.request_timeout_ms,
            )
        except UnknownRequestError:
            raise
        except ChannelError:
            self._coordinators.forget_node(node_id)
            raise
        if self._observe is not None:
            self._observe(node_id, request, response)
        return response

    async def post(self, node_id: int, request: Message, *, version_max: int | None = None) -> None:
        """Sends a request that has no response, as Produce with acks=0. Raises ChannelError."""
        await self._nodes.connection(node_id, Lane.MAIN).post(request, version_max=version_max)

    async def connect(self, node_id: int, *, lane: Lane = Lane.MAIN) -> None:
        """Connects unless it is connected. Raises ChannelError."""
        await self._nodes.connection(node_id, lane).connect()

    def is_connected(self, node_id: int, *, lane: Lane = Lane.MAIN) -> bool:
        return self._nodes.is_connected(node_id, lane)

    def supports(self, node_id: int, api: ApiKey) -> range | None:
        """The versions of a node that has been connected; None if it has none, or was not."""
        connection = self._nodes.existing(node_id)
        return None if connection is None else connection.versions.get(api)

    @property
    def features(self) -> dict[str, int]:
        """The cluster's feature levels, such as transaction.version, once a node is connected."""
        return self._nodes.features

    async def send_to_any(
        self,
        request: Message,
        *,
        lane: Lane = Lane.MAIN,
        version_max: int | None = None,
        timeout_ms: int | None = None,
    ) -> Any:
        """Returns the response of the first node that can be reached. Raises ChannelError."""
        reasons: dict[str, Exception] = {}
        node_ids = list(self._nodes.in_order(lane))
        if len(node_ids) > 1 and not self.is_connected(node_ids[0], lane=lane):
            await connect_first(
                self.clock, self.tasks, node_ids, lambda each: self.connect(each, lane=lane)
            )
            node_ids.sort(key=lambda each: not self.is_connected(each, lane=lane))
        for node_id in node_ids:
            try:
                return await self.send(
                    node_id, request, lane=lane, version_max=version_max, timeout_ms=timeout_ms
                )
            except NotSentError as error:
                refusal = origin(error)
                if is_refusal(refusal):
                    # Which it is by its cause.
                    raise refusal from refusal.__cause__
                reasons[str(error)] = origin(error)
        raise NotSentError("; ".join(reasons)) from next(iter(reasons.values()), None)

    async def send_to_controller(
        self,
        request: Message,
        *,
        version_max: int | None = None,
        timeout_ms: int | None = None,
    ) -> Any:
        """Sends to the node that metadata names as the controller: with KRaft a broker, which
        forwards to it. Raises ChannelError."""
        controller = self.metadata.controller_id
        if controller not in self.metadata.nodes:
            return await self.send_to_any(request, version_max=version_max, timeout_ms=timeout_ms)
        return await self.send(controller, request, version_max=version_max, timeout_ms=timeout_ms)

    # ---- coordinators

    async def coordinator(self, kind: CoordinatorKind, key: str) -> int:
        """The node that coordinates a group or transactional id. Raises ChannelError or
        KafkaError."""
        known = self._coordinators.get(kind, key)
        if known is not None and known in self.metadata.nodes:
            return known
        node = found_node(await self._send_repeatable(find_request(kind, key)), key)
        self._metadata.replace(self.metadata.with_node(node))
        self._coordinators.put(kind, key, node.node_id)
        return node.node_id

    def forget_coordinator(
        self, kind: CoordinatorKind, key: str, node_id: int | None = None
    ) -> None:
        """Looks the coordinator up again before the next request to it."""
        self._coordinators.forget(kind, key, node_id)

    async def send_to_coordinator(
        self,
        kind: CoordinatorKind,
        key: str,
        request: Message,
        *,
        error: Callable[[Any], int] = lambda response: int(response.error_code),
        lane: Lane = Lane.MAIN,
        version_max: int | None = None,
        timeout_ms: int | None = None,
    ) -> Any:
        """Sends to the coordinator, and forgets it if it answers that it is none. `error` takes
        the error code out of a response; the caller has to look at it as well. Raises ChannelError
        or KafkaError."""
        node_id = await self.coordinator(kind, key)
        response = await self.send(
            node_id, request, lane=lane, version_max=version_max, timeout_ms=timeout_ms
        )
        if error(response) in _COORDINATOR_MOVED:
            self.forget_coordinator(kind, key, node_id)
        return response

    # ---- retries

    async def retrying(
        self, what: str, attempt: Callable[[], Awaitable[T]], *, deadline: float
    ) -> T:
        """Repeats an attempt that raises ChannelError or a retriable KafkaError, with back-off and
        fresh metadata, until the deadline in the clock's monotonic seconds.

        Raises ClientError: the named error of a refusal, or TimedOutError. `what` names the attempt
        in messages: "creating the topic t".
        """
        started = self.clock.monotonic()
        failures = 0
        reason: Exception | None = None
        while True:
            try:
                return await within(self.clock, deadline, attempt(), what=what)
            except (ChannelError, KafkaError) as error:
                final = final_error(error, what)
                if final is not None:
                    raise final from error
                reason = error
            except TimedOutError as error:
                raise self._timed_out(what, started, reason) from (reason or error)
            failures += 1
            pause = self.backoff(failures)
            if self.clock.monotonic() + pause >= deadline:
                raise self._timed_out(what, started, reason) from reason
            await self.clock.sleep(pause)
            if isinstance(reason, ChannelError) or reason.code in STALE_METADATA:
                await self._refresh_quietly(deadline)

    def backoff(self, failures: int) -> float:
        """Seconds to wait after this many failures in a row."""
        return backoff_seconds(
            failures,
            first_ms=self.settings.retry_backoff_ms,
            max_ms=self.settings.retry_backoff_max_ms,
            dice=self.dice,
        )

    async def close(self) -> None:
        """Closes all connections. Outstanding requests fail with a ChannelError."""
        self._metadata.close()
        self._nodes.close()
        await self.tasks.close()
        # The loop closes the sockets in its next iteration.
        await self.clock.sleep(0)

    # ----

    async def _send_repeatable(self, request: Message) -> Any:
        """Like `send_to_any`, and once more if the connection was lost: a broker may have closed
        one that was idle."""
        try:
            return await self.send_to_any(request)
        except NotSentError:
            raise
        except ChannelError as error:
            if isinstance(error, UnknownRequestError) or is_refusal(error):
                raise
            return await self.send_to_any(request)

    async def _refresh_quietly(self, deadline: float) -> None:
        """The next attempt shows whether it has helped."""
        try:
            await within(self.clock, deadline, self.refresh(), what="refreshing metadata")
        except (ChannelError, KafkaError, TimedOutError) as error:
            _log.debug("cannot refresh metadata: %s", error)

    def _metadata_changed(self) -> None:
        self._nodes.adopt_bootstrap()
        for callback in self._on_metadata:
            callback()

    def _timed_out(self, what: str, started: float, reason: Exception | None) -> TimedOutError:
        seconds = self.clock.monotonic() - started
        why = f": {reason}" if reason is not None else ""
        return TimedOutError(f"{what}: no success within {seconds:.1f} s{why}")


def _task_failed(name: str, error: BaseException) -> None:
    _log.error("the client's task %s failed", name, exc_info=error)
