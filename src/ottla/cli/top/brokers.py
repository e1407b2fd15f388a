"""The brokers of a cluster as the protocol describes them, and where they serve metrics."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ottla.channels import ChannelError
from ottla.cli.connection.cluster_admin import ClusterAdmin
from ottla.configs import InvalidConfigError
from ottla.configs.metrics_listener import NAME, parse_metrics_listener
from ottla.runtime.network import Address
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.wire.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from ottla.wire.schema import Message

_BROKER_RESOURCE: Final = 4
_NO_LEADER: Final = -1
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

    async def fetch(self, admin: ClusterAdmin) -> ListedCluster:
        """Raises CommandError."""
        metadata = await admin.metadata()
        cluster = await admin.send_request(DescribeClusterRequest(include_fenced_brokers=True))
        partitions = [each for topic in metadata.topics for each in topic.partitions]
        leads = Counter(each.leader_id for each in partitions)
        lacking = Counter(
            each.leader_id for each in partitions if len(each.isr_nodes) < len(each.replica_nodes)
        )
        listed = sorted(cluster.brokers, key=lambda each: each.broker_id)
        self.addresses = tuple(Address(each.host, each.port) for each in listed)
        brokers = await asyncio.gather(
            *(self._broker(admin, each, leads=leads, lacking=lacking) for each in listed)
        )
        return ListedCluster(cluster.cluster_id, tuple(brokers), leads[_NO_LEADER])

    async def _broker(
        self,
        admin: ClusterAdmin,
        described: Any,
        *,
        leads: Mapping[int, int],
        lacking: Mapping[int, int],
    ) -> ListedBroker:
        address = Address(described.host, described.port)
        key = described.broker_id, address
        disks = None
        if described.is_fenced:
            self._metrics.pop(key, None)
        else:
            if key not in self._metrics:
                await self._find_metrics(admin, *key)
            if self._metrics.get(key) is None:
                disks = await _answer(admin, address, DescribeLogDirsRequest(topics=[]))
        return ListedBroker(
            described.broker_id,
            address,
            described.is_fenced,
            leads=leads.get(described.broker_id, 0),
            under_replicated=lacking.get(described.broker_id, 0),
            metrics=self._metrics.get(key),
            answers=disks is not None,
            disk_used=None if disks is None else _disk_used(disks),
        )

    async def _find_metrics(self, admin: ClusterAdmin, broker: int, address: Address) -> None:
        """A broker that does not answer is asked again the next time."""
        resource = DescribeConfigsResource(
            resource_type=_BROKER_RESOURCE, resource_name=str(broker), configuration_keys=[NAME]
        )
        request = DescribeConfigsRequest(resources=[resource])
        response = await _answer(admin, address, request)
        if response is None:
            return
        values = [
            config.value for result in response.results for config in result.configs if config.value
        ]
        self._metrics[broker, address] = _metrics_address(values[0], address) if values else None


def _metrics_address(setting: str, broker: Address) -> Address | None:
    """None if it cannot be derived: a free port is known only to the node's log."""
    try:
        listener = parse_metrics_listener(setting)
    except InvalidConfigError:
        return None
    if listener is None or listener.port == 0:
        return None
    return Address(broker.host if listener.host in _ANY_HOST else listener.host, listener.port)


async def _answer(admin: ClusterAdmin, address: Address, request: Message) -> Any | None:
    """None if the broker does not answer in time."""
    try:
        async with asyncio.timeout(_BROKER_SECONDS_MAX):
            return await admin.send_to_node(address, request)
    except (ChannelError, TimeoutError):
        return None


def _disk_used(response: DescribeLogDirsResponse) -> float | None:
    used = [
        1 - each.usable_bytes / each.total_bytes
        for each in response.results
        if each.total_bytes > 0 and each.usable_bytes >= 0
    ]
    return max(used, default=None)
