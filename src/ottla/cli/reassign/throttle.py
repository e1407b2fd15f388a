"""Moves that leave room for clients: throttles set before, and taken away after (KIP-73).

Brokers get a rate, topics a list of the replicas that it counts for: where partitions come from
throttles leaders, where they go followers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from ottla.cli.connection.admin_connection import doing
from ottla.cli.reassign.plan import Assignment
from ottla.client.administration.admin import Admin
from ottla.configs import ConfigResource, ConfigResourceType

RATES: Final = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LEADERS: Final = "leader.replication.throttled.replicas"
FOLLOWERS: Final = "follower.replication.throttled.replicas"


async def set_throttle(
    admin: Admin,
    serving: Collection[int],
    current: Assignment,
    target: Assignment,
    *,
    bytes_per_second: int,
) -> None:
    """`serving` are the brokers that serve: others get it when it is set again."""
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
        await _alter(admin, ConfigResourceType.TOPIC, topic, throttled)
    for broker in sorted(brokers.intersection(serving)):
        rates = dict.fromkeys(RATES, str(bytes_per_second))
        await _alter(admin, ConfigResourceType.BROKER, str(broker), rates)


async def clear_throttle(admin: Admin, serving: Iterable[int], *, topics: Iterable[str]) -> None:
    for topic in sorted(set(topics)):
        await _alter(admin, ConfigResourceType.TOPIC, topic, {LEADERS: None, FOLLOWERS: None})
    for broker in sorted(serving):
        await _alter(admin, ConfigResourceType.BROKER, str(broker), dict.fromkeys(RATES))


async def _alter(
    admin: Admin, kind: ConfigResourceType, name: str, configs: Mapping[str, str | None]
) -> None:
    """None takes a config away."""
    resource = ConfigResource(kind, name)
    with doing(f"alter the throttle of {kind.name.lower()} {name}"):
        (await admin.alter_configs({resource: configs})).all()
