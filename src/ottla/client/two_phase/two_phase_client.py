"""What the two phases need of a cluster: one view of it, and producers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

from ottla.client.cluster import ClientCluster, ClientSeams
from ottla.client.producing.producer import Producer
from ottla.client.settings.common import COMMON, cluster_settings
from ottla.client.settings.parsing import parse_properties
from ottla.client.two_phase.prepared_transactions import PreparedTransactions
from ottla.client_security.property_names import is_of_security

_SECURITY: Final = "security"


class TwoPhaseClient:
    """Used within `async with`; closes the producers that it made.

    `properties` are those of a producer, without `transactional.id`. Calls to the cluster are
    repeated for `delivery.timeout.ms`.
    """

    def __init__(
        self,
        properties: Mapping[str, Any],
        *,
        journal_topic: str,
        seams: ClientSeams | None = None,
    ) -> None:
        self.journal_topic = journal_topic
        self.seconds = int(properties.get("delivery.timeout.ms", 120_000)) / 1_000
        self._properties = properties
        self._seams = seams or ClientSeams.system()
        common = {
            name: value
            for name, value in properties.items()
            if name in COMMON or name == _SECURITY or is_of_security(name)
        }
        parsed = parse_properties(COMMON, common, {}, dice=self._seams.dice)
        self.cluster = ClientCluster(cluster_settings(parsed.values, parsed.security), self._seams)
        self.transactions = PreparedTransactions(self.cluster, seconds=self.seconds)
        self._producers: list[Producer] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def producer(self, transactional_id: str | None) -> Producer:
        """Without a transactional id an idempotent one."""
        own = {} if transactional_id is None else {"transactional.id": transactional_id}
        producer = Producer({**self._properties, **own}, seams=self._seams)
        self._producers.append(producer)
        return producer

    async def begun(self, transactional_id: str) -> Producer:
        """A producer with a new epoch. An earlier producer of the transactional id is fenced, and
        its open transaction is aborted. Raises ClientError."""
        producer = self.producer(transactional_id)
        await producer.init_transactions(timeout=self.seconds)
        producer.begin_transaction(is_prepared=True)
        return producer

    def deadline(self) -> float:
        return self.cluster.clock.monotonic() + self.seconds

    async def close(self) -> None:
        """Leaves prepared transactions open."""
        for producer in self._producers:
            await producer.close(timeout=0)
        await self.cluster.close()
