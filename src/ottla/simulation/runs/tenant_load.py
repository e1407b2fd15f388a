"""Tenants of a run: each has a client on its own listener, quotas and a limit of topics, and all
clients together have another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ottla.channels.errors import ChannelError
from ottla.simulation.claims.tenant_claims import TENANT_TOPICS_MAX
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.clients.tenant_client import SimulatedTenantClient
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.history.tenant_events import UserTopicsSeen
from ottla.simulation.world.host import Host
from ottla.simulation.world.node import TENANTS
from ottla.simulation.world.world import World
from ottla.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    EntityData,
    OpData,
)
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.schema import Message

_BROKER_RESOURCE: Final = 4
_METADATA_VERSION: Final = 12
_WATCH_SECONDS: Final = 0.3
# Fewer than both tenants may have together.
_MORE_TOPICS_OF_USER: Final = 5
_QUOTAS: Final = {"producer_byte_rate": 2_000.0, "consumer_byte_rate": 20_000.0}


class TenantLoad:
    """`start` it once the cluster serves. Ends with its hosts."""

    def __init__(
        self, world: World, cluster: SimulatedCluster, host: Callable[[str], Host]
    ) -> None:
        self._operator = host("tenant-operator")
        self._bootstrap = cluster.bootstrap
        self._record = world.record
        self._is_over = False
        self._clients = [
            SimulatedTenantClient(
                host(f"client-of-{tenant}"),
                [node.tenant_address(tenant) for node in cluster.nodes],
                world.record,
                tenant=tenant,
            )
            for tenant in TENANTS
        ]

    def start(self) -> None:
        self._operator.run("create tenants", self._operate())

    def end(self) -> None:
        """Removes the limit of all clients together: what else waits for a topic, such as one that
        is to be restored, must be able to go on."""
        self._is_over = True

    async def _operate(self) -> None:
        """Creates the tenants, their quotas and limits, starts their clients, and watches."""
        client = ClusterClient(self._operator, self._bootstrap, name="tenant-operator")
        # All clients are one user without authentication.
        limit = await self._topic_count(client) + _MORE_TOPICS_OF_USER
        limits = f"topics={TENANT_TOPICS_MAX}"
        configs = [
            AlterableConfig(name=f"ottla.tenant.{tenant}", value=limits) for tenant in TENANTS
        ]
        resource = AlterConfigsResource(resource_type=_BROKER_RESOURCE, configs=configs)
        entries = [
            _quotas("user", "ANONYMOUS", {"topics_max": limit}),
            *(_quotas("client-id", each.host.name, _QUOTAS) for each in self._clients),
        ]
        for request, results in (
            (IncrementalAlterConfigsRequest(resources=[resource]), "responses"),
            (AlterClientQuotasRequest(entries=entries), "entries"),
        ):
            await self._change(client, request, results)
        for each in self._clients:
            each.host.run("client of a tenant", each.run())
        while not self._is_over:
            count = await self._topic_count(client)
            self._record(UserTopicsSeen(self._operator.name, count, limit))
            await self._operator.clock.sleep(_WATCH_SECONDS)
        entries = [_quotas("user", "ANONYMOUS", {"topics_max": None})]
        await self._change(client, AlterClientQuotasRequest(entries=entries), "entries")

    async def _change(self, client: ClusterClient, request: Message, results: str) -> None:
        """Retries until all changes are acknowledged."""
        while True:
            try:
                answer = await client.send_to_any(request, 1)
            except ChannelError:
                await client.back_off()
                continue
            if not any(each.error_code for each in getattr(answer, results)):
                return
            await client.back_off()

    async def _topic_count(self, client: ClusterClient) -> int:
        """Of all topics that nodes have not created."""
        while True:
            try:
                answer = await client.send_to_any(MetadataRequest(topics=None), _METADATA_VERSION)
            except ChannelError:
                await client.back_off()
                continue
            return sum(not str(topic.name).startswith("__") for topic in answer.topics)


def _quotas(
    kind: str, name: str, limits: Mapping[str, float | None]
) -> AlterClientQuotasRequestEntryData:
    return AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name)],
        ops=[
            OpData(key=key, remove=True) if value is None else OpData(key=key, value=value)
            for key, value in limits.items()
        ],
    )
