"""Links to the nodes of a cluster, and the leaders of partitions.

One asyncio task uses it at a time. Requests that fail because a node is down or has lost its role
are retried until a timeout.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Self, TypeVar

from ottla.channels import PLAINTEXT, ChannelError, ChannelSecurity, NodeLink
from ottla.channels.authentication import AuthenticationFailedError
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.pipeline.reading.errors import ClusterError
from ottla.runtime.clock import Clock
from ottla.runtime.network import Address, Network
from ottla.runtime.tls.errors import TlsHandshakeError
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

T = TypeVar("T")

# Version 13 adds an error that sends clients back to their bootstrap nodes, not supported here.
METADATA_VERSION: Final = 12
# The last version with a single key; old nodes support it too.
_FIND_COORDINATOR_VERSION: Final = 3
GROUP: Final = 0
TRANSACTION: Final = 1
# The pause before a retry doubles each time, up to the maximum.
_RETRY_SECONDS_MIN: Final = 0.01
_RETRY_SECONDS_MAX: Final = 0.2
# A node's metadata may not have a new topic yet. After this time the topic counts as deleted.
_UNKNOWN_TOPIC_SECONDS: Final = 10.0
_PASSING: Final = frozenset(
    {
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    }
)


def require(error_code: int, what: str) -> None:
    """Raises KafkaError if the error code is not zero."""
    if error_code:
        raise KafkaError(ErrorCode(error_code), what)


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
        self._bootstrap = tuple(bootstrap)
        self._network = network
        self._client_id = client_id
        self._security = security
        self._links: dict[Address, NodeLink] = {}
        self._nodes: dict[int, Address] = {}
        self._leaders: dict[TopicPartition, int] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        for link in self._links.values():
            link.close()
        # The loop closes the sockets in its next iteration.
        await self.clock.sleep(0)

    async def metadata(self, topics: Sequence[str] | None) -> MetadataResponse:
        """Metadata of these topics or of all (None), errors included. Caches the leaders."""
        request = MetadataRequest(
            topics=None if topics is None else [MetadataRequestTopic(name=name) for name in topics],
            allow_auto_topic_creation=False,
        )
        return await self.persist(lambda: self._metadata(request))

    async def leader(self, partition: TopicPartition) -> NodeLink:
        """The link to the partition's leader. Raises ChannelError or KafkaError; `persist` retries
        both."""
        node = self._leaders.get(partition)
        if node is None:
            await self._metadata(
                MetadataRequest(
                    topics=[MetadataRequestTopic(name=partition.topic)],
                    allow_auto_topic_creation=False,
                )
            )
            node = self._leaders.get(partition)
        if node is None or node not in self._nodes:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{_text(partition)} has no leader")
        return await self._link(self._nodes[node])

    async def coordinator(self, key: str, *, key_type: int) -> NodeLink:
        """The link to the coordinator of a GROUP or TRANSACTION key. Raises like `leader`."""
        request = FindCoordinatorRequest(key=key, key_type=key_type)
        response = await (await self.any()).send_request(
            request, version_max=_FIND_COORDINATOR_VERSION
        )
        require(response.error_code, f"looking for the coordinator of {key}")
        return await self._link(Address(response.host, response.port))

    async def persist(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Retries `attempt` after temporary failures, with fresh leaders, up to `timeout_ms`.
        Raises ClusterError."""
        started = self.clock.monotonic()
        deadline = started + self.timeout_ms / 1_000
        wait = _RETRY_SECONDS_MIN
        while True:
            try:
                return await attempt()
            except KafkaError as error:
                is_new = error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and (
                    self.clock.monotonic() < started + _UNKNOWN_TOPIC_SECONDS
                )
                if error.code not in _PASSING and not is_new:
                    raise ClusterError(
                        f"{error.message} ({error.code.name})", error.code
                    ) from error
                reason: Exception = error
            except ChannelError as error:
                if _is_refusal(error):
                    raise ClusterError(str(error)) from error
                reason = error
            self._leaders.clear()
            if self.clock.monotonic() >= deadline:
                raise ClusterError(f"no response for {self.timeout_ms} ms: {reason}") from reason
            await self.clock.sleep(wait)
            wait = min(wait * 2, _RETRY_SECONDS_MAX)

    async def _metadata(self, request: MetadataRequest) -> MetadataResponse:
        link = await self.any()
        response: MetadataResponse = await link.send_request(request, version_max=METADATA_VERSION)
        self._nodes = {node.node_id: Address(node.host, node.port) for node in response.brokers}
        for topic in response.topics:
            for partition in topic.partitions:
                name = TopicPartition(topic.name or "", partition.partition_index)
                if partition.error_code or partition.leader_id < 0:
                    self._leaders.pop(name, None)
                else:
                    self._leaders[name] = partition.leader_id
        return response

    async def any(self) -> NodeLink:
        """The link to any node of the cluster. Raises ChannelError if none can be reached."""
        for link in self._links.values():
            if link.is_open:
                return link
        reasons = []
        for address in dict.fromkeys((*self._bootstrap, *self._nodes.values())):
            try:
                return await self._link(address)
            except ChannelError as error:
                if _is_refusal(error):
                    raise
                reasons.append(str(error))
        raise ChannelError("; ".join(reasons))

    async def _link(self, address: Address) -> NodeLink:
        link = self._links.get(address)
        if link is None or not link.is_open:
            link = self._links[address] = await NodeLink.connect(
                self._network,
                self.clock,
                address,
                client_id=self._client_id,
                security=self._security,
            )
        return link


def _is_refusal(error: ChannelError) -> bool:
    """Whether trying again is of no use: the node refuses the credentials, or this side the node's
    certificate."""
    cause = error.__cause__
    return isinstance(error, AuthenticationFailedError) or (
        isinstance(cause, TlsHandshakeError) and cause.is_untrusted
    )


def _text(partition: TopicPartition) -> str:
    return f"{partition.topic}-{partition.partition}"
