"""Moves that leave room for clients: throttles set before, and taken away after (KIP-73).

Brokers get a rate, topics a list of the replicas that it counts for: where partitions come from
throttles leaders, where they go followers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from ottla.cli.cluster_admin import ClusterAdmin, refusal
from ottla.cli.reassign_plan import Assignment
from ottla.configs import ConfigOperation, ConfigResourceType
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

RATES: Final = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LEADERS: Final = "leader.replication.throttled.replicas"
FOLLOWERS: Final = "follower.replication.throttled.replicas"


async def set_throttle(
    admin: ClusterAdmin, current: Assignment, target: Assignment, *, bytes_per_second: int
) -> None:
    leaders: dict[str, list[str]] = defaultdict(list)
    followers: dict[str, list[str]] = defaultdict(list)
    brokers: set[int] = set()
    for name, replicas in sorted(target.items()):
        added = [broker for broker in replicas if broker not in current[name]]
        if added:
            leaders[name.topic] += [f"{name.partition}:{broker}" for broker in current[name]]
            followers[name.topic] += [f"{name.partition}:{broker}" for broker in added]
            brokers.update(current[name], added)
    resources = [
        _topic(topic, {LEADERS: ",".join(leaders[topic]), FOLLOWERS: ",".join(followers[topic])})
        for topic in sorted(leaders)
    ]
    resources += [
        _broker(broker, dict.fromkeys(RATES, str(bytes_per_second))) for broker in sorted(brokers)
    ]
    await _alter(admin, resources)


async def clear_throttle(
    admin: ClusterAdmin, *, topics: Iterable[str], brokers: Iterable[int]
) -> None:
    resources = [_topic(topic, {LEADERS: None, FOLLOWERS: None}) for topic in sorted(set(topics))]
    resources += [_broker(broker, dict.fromkeys(RATES)) for broker in sorted(brokers)]
    await _alter(admin, resources)


def _topic(name: str, configs: dict[str, str | None]) -> AlterConfigsResource:
    return _resource(ConfigResourceType.TOPIC, name, configs)


def _broker(broker_id: int, configs: dict[str, str | None]) -> AlterConfigsResource:
    return _resource(ConfigResourceType.BROKER, str(broker_id), configs)


def _resource(
    resource_type: ConfigResourceType, name: str, configs: dict[str, str | None]
) -> AlterConfigsResource:
    """None takes a config away."""
    return AlterConfigsResource(
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


async def _alter(admin: ClusterAdmin, resources: list[AlterConfigsResource]) -> None:
    """One by one: a broker takes its own configs only."""
    for resource in resources:
        response = await admin.ask(IncrementalAlterConfigsRequest(resources=[resource]))
        for result in response.responses:
            if result.error_code:
                doing = f"alter the throttle of {result.resource_name}"
                raise refusal(doing, result.error_code, result.error_message)
