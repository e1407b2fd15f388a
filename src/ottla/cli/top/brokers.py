"""The brokers of a cluster as the protocol describes them, and where they serve metrics."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ottla.cli.connection.admin_connection import doing
from ottla.client.administration.admin import Admin
from ottla.client.administration.cluster import BrokerDescription
from ottla.client.administration.log_dirs import LogDir
from ottla.client.errors import ClientError
from ottla.configs import ConfigResource, ConfigResourceType, InvalidConfigError
from ottla.configs.metrics_listener import NAME, parse_metrics_listener
from ottla.runtime.network import Address

# So that one broker that hangs does not delay the others.
_BROKER_SECONDS_MAX: Final = 1.0
_ANY_HOST: Final = ("0.0.0.0", "::")  # noqa: S104 - compared, not listened on


@dataclass(frozen=True, slots=True)
class ListedBroker:
    """`metrics` is None if the broker serves none or they are unknown. Only brokers without metrics
    are sent requests of their own: `answers` says whether the broker did answer, `disk_used` how
    full its fullest log directory is."""

    id: int
    address: Address
    is_fenced: bool
    leads: int
    under_replicated: int
    metrics: Address | None
    answers: bool
    disk_used: float | None


@dataclass(frozen=True, slots=True)
class ListedCluster:
    cluster_id: str
    brokers: tuple[ListedBroker, ...]
    offline_partitions: int


class BrokerList:
    """Remembers the brokers' addresses, and where they serve metrics, which only a restart
    changes."""

    def __init__(self) -> None:
        self.addresses: tuple[Address, ...] = ()
        self._metrics: dict[tuple[int, Address], Address | None] = {}

    async def fetch(self, admin: Admin) -> ListedCluster:
        """Raises CommandError."""
        with doing("describe the cluster"):
            topics = await admin.list_topics()
            cluster = await admin.describe_cluster(include_fenced_brokers=True)
        partitions = [each for topic in topics.values() for each in topic.partitions]
        leads = Counter(each.leader for each in partitions)
        lacking = Counter(
            each.leader for each in partitions if len(each.in_sync) < len(each.replicas)
        )
        self.addresses = tuple(Address(each.host, each.port) for each in cluster.brokers)
        brokers = await asyncio.gather(
            *(self._broker(admin, each, leads=leads, lacking=lacking) for each in cluster.brokers)
        )
        return ListedCluster(cluster.cluster_id, tuple(brokers), leads[None])

    async def _broker(
        self,
        admin: Admin,
        described: BrokerDescription,
        *,
        leads: Mapping[int | None, int],
        lacking: Mapping[int | None, int],
    ) -> ListedBroker:
        address = Address(described.host, described.port)
        key = described.id, address
        disks = None
        if described.is_fenced:
            self._metrics.pop(key, None)
        else:
            if key not in self._metrics:
                await self._find_metrics(admin, *key)
            if self._metrics.get(key) is None:
                disks = await _disks(admin, described.id)
        return ListedBroker(
            described.id,
            address,
            described.is_fenced,
            leads=leads.get(described.id, 0),
            under_replicated=lacking.get(described.id, 0),
            metrics=self._metrics.get(key),
            answers=disks is not None,
            disk_used=None if disks is None else _disk_used(disks),
        )

    async def _find_metrics(self, admin: Admin, broker: int, address: Address) -> None:
        """A broker that does not answer is asked again the next time."""
        resource = ConfigResource(ConfigResourceType.BROKER, str(broker))
        try:
            results = await admin.describe_configs(
                [resource], names=[NAME], timeout=_BROKER_SECONDS_MAX
            )
        except ClientError:
            return
        configs = results.get(resource)
        if configs is None:
            return
        value = configs[NAME].value if NAME in configs else None
        self._metrics[broker, address] = _metrics_address(value, address) if value else None


def _metrics_address(setting: str, broker: Address) -> Address | None:
    """None if it cannot be derived: a free port is known only to the node's log."""
    try:
        listener = parse_metrics_listener(setting)
    except InvalidConfigError:
        return None
    if listener is None or listener.port == 0:
        return None
    return Address(broker.host if listener.host in _ANY_HOST else listener.host, listener.port)


async def _disks(admin: Admin, broker: int) -> tuple[LogDir, ...] | None:
    """None if the broker does not answer in time."""
    try:
        results = await admin.describe_log_dirs([broker], timeout=_BROKER_SECONDS_MAX)
    except ClientError:
        return None
    return results.get(broker)


def _disk_used(directories: tuple[LogDir, ...]) -> float | None:
    used = [
        1 - each.usable_bytes / each.total_bytes
        for each in directories
        if each.total_bytes and each.usable_bytes is not None
    ]
    return max(used, default=None)
