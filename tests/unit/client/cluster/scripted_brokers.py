"""Brokers whose answers a test sets, and a client's cluster that connects to them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from ottla.client.cluster import ClientCluster
from ottla.client.settings import ClusterSettings
from ottla.model import Uuid
from ottla.runtime.network import Address
from ottla.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ottla.wire.schema import Message
from tests.support.nodes.scripted_node import ScriptedNode

TOPIC_ID = b"1" * 16


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 20))


def topic(name: str, *leaders: tuple[int, int], topic_id: bytes = TOPIC_ID) -> Any:
    """With a leader and its epoch for each partition."""
    return MetadataResponseTopic(
        name=name,
        topic_id=Uuid(topic_id),
        partitions=[
            MetadataResponsePartition(partition_index=index, leader_id=node, leader_epoch=epoch)
            for index, (node, epoch) in enumerate(leaders)
        ],
    )


def metadata(nodes: Mapping[int, Address], *topics: Any, error_code: int = 0) -> MetadataResponse:
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=node_id, host=host, port=port)
            for node_id, (host, port) in nodes.items()
        ],
        cluster_id="cluster",
        controller_id=min(nodes, default=-1),
        topics=list(topics),
        error_code=error_code,
    )


class ScriptedBroker:
    """`requests` are those after ApiVersions. `metadata` answers Metadata, `answer` the rest."""

    def __init__(self, answer: Callable[[Message], Message | None] = lambda _request: None) -> None:
        self.answer = answer
        self.metadata: Callable[[], MetadataResponse] = lambda: metadata({})
        self.requests: list[Message] = []
        self.node = ScriptedNode(self._respond)
        self.address: Address

    async def listen(self) -> Address:
        self.address = await self.node.listen()
        return self.address

    def stop(self) -> None:
        self.node.stop()

    def _respond(self, request: Message) -> Message | None:
        if isinstance(request, ApiVersionsRequest):
            known = [ApiVersion(api_key=key, min_version=0, max_version=100) for key in range(100)]
            return ApiVersionsResponse(api_keys=known)
        self.requests.append(request)
        if isinstance(request, MetadataRequest):
            return self.metadata()
        return self.answer(request)


def cluster_at(*addresses: Address, **settings: Any) -> ClientCluster:
    return ClientCluster(
        ClusterSettings(
            bootstrap=addresses,
            **{"retry_backoff_ms": 1, "retry_backoff_max_ms": 20, "reconnect_backoff_ms": 1}
            | settings,
        )
    )
