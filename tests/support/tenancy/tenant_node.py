"""A node with two tenants, each with a listener of its own, and an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ottla.wire.apis import ApiKey
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.requests import decode_response, encode_request
from ottla.wire.schema import Message
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import HOST, LISTENER, OneNode, StartNode

ACME, BETA, SHARED = "ACME", "BETA", "SHARED"
TENANTS: Final = {ACME: "acme", BETA: "beta"}
_BROKER = 4
CONFIGS: Final = {
    "listeners": f"{LISTENER}://{HOST}:9092,{ACME}://{HOST}:9093,{BETA}://{HOST}:9094",
    "listener.security.protocol.map": (
        f"{LISTENER}:PLAINTEXT,{ACME}:PLAINTEXT,{BETA}:PLAINTEXT,CONTROLLER:PLAINTEXT"
    ),
    "ottla.tenant.listeners": f"{ACME}:acme,{BETA}:beta",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}


def start_tenant_node(start_node: StartNode, **limits: str) -> OneNode:
    """`limits` are those of the tenants, by their name."""
    node = start_node(configs=CONFIGS)
    for tenant in TENANTS.values():
        set_tenant(node, tenant, limits.get(tenant, ""))
    return node


def set_tenant(node: OneNode, tenant: str, limits: str | None) -> int:
    """Creates, changes or, with None, deletes a tenant. Returns the error code."""
    config = AlterableConfig(
        name=f"ottla.tenant.{tenant}",
        config_operation=1 if limits is None else 0,
        value=limits,
    )
    resource = AlterConfigsResource(resource_type=_BROKER, configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    (result,) = node.send_request(request, 1).responses
    code: int = result.error_code
    return code


class TenantClient:
    """A client on a tenant's listener."""

    def __init__(self, node: OneNode, listener: str) -> None:
        self.stream = ClientStream(node, listener=listener)

    def send(self, request: Message, version: int | None = None) -> Any:
        """The response; None if the node closed the connection."""
        answers = self.send_all((request,), version)
        return answers[0] if answers else None

    def send_all(self, requests: Sequence[Message], version: int | None = None) -> list[Any]:
        """The responses to requests that are sent at once, so that no time passes between them;
        none if the node closed the connection."""
        versions = [type(each).stable.highest if version is None else version for each in requests]
        self.stream.feed(
            b"".join(
                part
                for each, sent_as in zip(requests, versions, strict=True)
                for part in encode_request(each, sent_as, correlation_id=0, client_id="client")
            )
        )
        if self.stream.is_closed:
            return []
        return [
            decode_response(answer, ApiKey(each.api_key or 0), sent_as)[1]
            for answer, each, sent_as in zip(self.stream.answers(), requests, versions, strict=True)
        ]
