"""Connections of operators' commands: one to a node, and none that outlives the command."""

from __future__ import annotations

import asyncio

from ottla.cli.connection.cluster_admin import ClusterAdmin
from ottla.wire.apis import ApiKey
from ottla.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.metadata import MetadataRequest, MetadataResponse
from ottla.wire.schema import Message
from tests.support.nodes.scripted_node import ScriptedNode, until

NO_BROKERS = MetadataResponse(brokers=[], topics=[])


def answer(request: Message) -> Message:
    if isinstance(request, ApiVersionsRequest):
        known = ApiVersion(api_key=ApiKey.METADATA, min_version=0, max_version=12)
        return ApiVersionsResponse(api_keys=[known])
    return NO_BROKERS


def test_two_requests_to_a_node_at_once_share_a_connection() -> None:
    async def scenario() -> None:
        node = ScriptedNode(answer)
        address = await node.listen()
        async with ClusterAdmin([address]) as admin:
            both = [admin.send_to_node(address, MetadataRequest(topics=None)) for _ in range(2)]
            await asyncio.gather(*both)
            await until(lambda: len(node.connections) == 1)
        await until(lambda: not node.connections)
        node.stop()

    asyncio.run(asyncio.wait_for(scenario(), 20))
