"""Moves that leave room for clients: throttles set before, and taken away after (KIP-73).

Brokers get a rate, topics a list of the replicas that it counts for: where partitions come from
throttles leaders, where they go followers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.channels import ChannelError
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.reassign.plan import Assignment
from ottla.configs import ConfigOperation, ConfigResourceType
from ottla.runtime.network import Address
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

RATES: Final = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LEADERS: Final = "leader.replication.throttled.replicas"
FOLLOWERS: Final = "follower.replication.throttled.replicas"


async def set_throttle(
    admin: ClusterAdmin,
    addresses: Mapping[int, Address],
    current: Assignment,
    target: Assignment,
    *,
    bytes_per_second: int,
) -> None:
    """`addresses` are those of the brokers that serve: others get it when it is set again."""
    leaders: dict[str, list[str]] = defaultdict(list)
    followers: dict[str, list[str]] = defaultdict(list)
    brokers: set[int] = set()
    for name, replicas in sorted(target.items()):
        added = [broker for broker in replicas if broker not in current[name]]
        if added:
            leaders[name.topic] += [f"{name.partition}:{broker}" for broker in current[name]]
            followers[name.topic] += [f"{name.partition}:{broker}" for broker in added]
            brokers.update(current[name], added)
    for topic in sorted(leaders):
        throttled = {LEADERS: ",".join(leaders[topic]), FOLLOWERS: ",".join(followers[topic])}
        await _alter_topic(admin, topic, throttled)
    for broker in sorted(brokers & addresses.keys()):
        rates = dict.fromkeys(RATES, str(bytes_per_second))
        await _alter_broker(admin, broker, addresses[broker], rates)


async def clear_throttle(
    admin: ClusterAdmin, addresses: Mapping[int, Address], *, topics: Iterable[str]
) -> None:
    for topic in sorted(set(topics)):
        await _alter_topic(admin, topic, {LEADERS: None, FOLLOWERS: None})
    for broker, address in sorted(addresses.items()):
        await _alter_broker(admin, broker, address, dict.fromkeys(RATES))


async def _alter_topic(admin: ClusterAdmin, topic: str, configs: Mapping[str, str | None]) -> None:
    request = _request(ConfigResourceType.TOPIC, topic, configs)
    _require_altered(await admin.send_request(request))


async def _alter_broker(
    admin: ClusterAdmin, broker_id: int, address: Address, configs: Mapping[str, str | None]
) -> None:
    """Asked of the broker itself: it refuses what is another one's."""
    request = _request(ConfigResourceType.BROKER, str(broker_id), configs)
    try:
        _require_altered(await admin.send_to_node(address, request))
    except ChannelError as error:
        raise CommandError(
            f"Cannot alter the throttle of broker {broker_id}: {error}.",
            exit_code=ExitCode.UNREACHABLE,
        ) from None


def _request(
    resource_type: ConfigResourceType, name: str, configs: Mapping[str, str | None]
) -> IncrementalAlterConfigsRequest:
    """None takes a config away."""
    resource = AlterConfigsResource(
        resource_type=resource_type,
        resource_name=name,
        configs=[
            AlterableConfig(
                name=config,
                config_operation=ConfigOperation.DELETE if value is None else ConfigOperation.SET,
                value=value,
            )
            for config, value in configs.items()
        ],
    )
    return IncrementalAlterConfigsRequest(resources=[resource])


def _require_altered(response: IncrementalAlterConfigsResponse) -> None:
    for result in response.responses:
        if result.error_code:
            doing = f"alter the throttle of {result.resource_name}"
            raise refusal(doing, result.error_code, result.error_message)
