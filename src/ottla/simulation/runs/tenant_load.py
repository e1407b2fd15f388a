"""Tenants of a run: each has a client on its own listener, and its users have quotas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ottla.channels.errors import ChannelError
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.clients.tenant_client import SimulatedTenantClient
from ottla.simulation.cluster.cluster import SimulatedCluster
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

_BROKER_RESOURCE: Final = 4
_QUOTAS: Final = {"producer_byte_rate": 2_000.0, "consumer_byte_rate": 20_000.0}


class TenantLoad:
    """`start` it once the cluster serves. Ends with its hosts."""

    def __init__(
        self, world: World, cluster: SimulatedCluster, host: Callable[[str], Host]
    ) -> None:
        self._operator = host("tenant-operator")
        self._bootstrap = cluster.bootstrap
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
        self._operator.run("create tenants", self._create())
        for client in self._clients:
            client.host.run("client of a tenant", client.run())

    async def _create(self) -> None:
        """Creates the tenants, and quotas of their clients; retries until both are acknowledged."""
        client = ClusterClient(self._operator, self._bootstrap, name="tenant-operator")
        configs = [AlterableConfig(name=f"ottla.tenant.{tenant}", value="") for tenant in TENANTS]
        resource = AlterConfigsResource(resource_type=_BROKER_RESOURCE, configs=configs)
        requests = [
            (IncrementalAlterConfigsRequest(resources=[resource]), "responses"),
            (
                AlterClientQuotasRequest(
                    entries=[_quotas(each.host.name) for each in self._clients]
                ),
                "entries",
            ),
        ]
        for request, results in requests:
            while True:
                try:
                    answer = await client.send_to_any(request, 1)
                except ChannelError:
                    await client.back_off()
                    continue
                if not any(each.error_code for each in getattr(answer, results)):
                    break
                await client.back_off()


def _quotas(client_id: str) -> AlterClientQuotasRequestEntryData:
    return AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type="client-id", entity_name=client_id)],
        ops=[OpData(key=key, value=value) for key, value in _QUOTAS.items()],
    )
