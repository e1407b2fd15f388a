"""The cluster of a source: `ottla.client`'s, with the errors and timeouts of a query.

One asyncio task uses it at a time. Requests that fail because a node is down or has lost its role
are retried until a timeout.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from ottla.channels import PLAINTEXT, ChannelSecurity
from ottla.client.cluster import ClientCluster, ClientSeams, ClusterMetadata, CoordinatorKind
from ottla.client.errors import ApiError, ClientError, TimedOutError
from ottla.client.settings import ClusterSettings
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.pipeline.reading.errors import ClusterError
from ottla.runtime.clock import Clock
from ottla.runtime.dice import SystemDice
from ottla.runtime.network import Address, Network
from ottla.wire.schema import Message

T = TypeVar("T")

_RETRY_MS_MIN: Final = 10
_RETRY_MS_MAX: Final = 200
_CONNECT_TIMEOUT_MS: Final = 3_000
# A node's metadata may not have a new topic yet. After this time the topic counts as deleted.
_UNKNOWN_TOPIC_SECONDS: Final = 10.0


def require(error_code: int, what: str) -> None:
    """Raises KafkaError if the error code is not zero."""
    if error_code:
        raise KafkaError(ErrorCode(error_code), what)


@dataclass(frozen=True, slots=True)
class SourceNode:
    """A node that has a role: the leader of a partition, or a coordinator."""

    cluster: ClientCluster
    node_id: int

    async def send_request(self, request: Message, *, version_max: int | None = None) -> Any:
        """Raises ChannelError, which `persist` retries."""
        return await self.cluster.send(self.node_id, request, version_max=version_max)


class SourceCluster:
    """Used within `async with`. Each call may take up to `timeout_ms`."""

    def __init__(
        self,
        bootstrap: Sequence[Address],
        network: Network,
        clock: Clock,
        *,
        client_id: str,
        timeout_ms: int,
        security: ChannelSecurity = PLAINTEXT,
    ) -> None:
        self.clock = clock
        self.timeout_ms = timeout_ms
        self._cluster = ClientCluster(
            ClusterSettings(
                bootstrap=tuple(bootstrap),
                client_id=client_id,
                security=security,
                retry_backoff_ms=_RETRY_MS_MIN,
                retry_backoff_max_ms=_RETRY_MS_MAX,
                connection_setup_timeout_ms=_CONNECT_TIMEOUT_MS,
            ),
            ClientSeams(clock, network, SystemDice()),
        )
        self._topics: set[str] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._cluster.close()

    async def metadata(self, topics: Sequence[str] | None) -> ClusterMetadata:
        """Metadata of these topics or of all (None), errors included."""
        return await self.persist(lambda: self._cluster.refresh(topics))

    async def leader(self, partition: TopicPartition) -> SourceNode:
        """The partition's leader. Raises ChannelError or KafkaError; `persist` retries both."""
        if partition.topic not in self._topics:
            self._topics.add(partition.topic)
            self._cluster.watch_topics(self._topics)
        if self._cluster.leader(partition) is None:
            await self._cluster.refresh()
        leader = self._cluster.leader(partition)
        if leader is None:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{partition} has no leader")
        return SourceNode(self._cluster, leader.node_id)

    async def coordinator(self, group_id: str) -> SourceNode:
        """The coordinator of a group. Raises like `leader`."""
        # Not from the cache: commits are rare, and coordinators move.
        self._cluster.forget_coordinator(CoordinatorKind.GROUP, group_id)
        node_id = await self._cluster.coordinator(CoordinatorKind.GROUP, group_id)
        return SourceNode(self._cluster, node_id)

    async def persist(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Retries `attempt` after temporary failures, with fresh leaders, up to `timeout_ms`.
        Raises ClusterError."""
        started = self.clock.monotonic()

        async def limited() -> T:
            try:
                return await attempt()
            except KafkaError as error:
                is_old = self.clock.monotonic() >= started + _UNKNOWN_TOPIC_SECONDS
                if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and is_old:
                    raise _refused(error) from error
                raise

        deadline = started + self.timeout_ms / 1_000
        try:
            return await self._cluster.retrying("a request", limited, deadline=deadline)
        except ApiError as error:
            raise _refused(error) from error
        except TimedOutError as error:
            reason = error.__cause__ or error
            raise ClusterError(f"no response for {self.timeout_ms} ms: {reason}") from error
        except ClientError as error:
            raise ClusterError(str(error)) from error


def _refused(error: KafkaError) -> ClusterError:
    return ClusterError(f"{error.message} ({error.code.name})", error.code)
