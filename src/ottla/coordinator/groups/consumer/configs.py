"""The configs of one group: the group's own (KIP-848), or the node's."""

from __future__ import annotations

from typing import NamedTuple

from ottla.configs.group_config import effective_group_number
from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.coordinator.groups.context import GroupContext


class ConsumerGroupConfigs(NamedTuple):
    session_timeout_ms: int
    heartbeat_interval_ms: int


def group_configs(context: GroupContext, group_id: str) -> ConsumerGroupConfigs:
    broker = context.settings.values
    own = context.image.configs_of(ConfigResource(ConfigResourceType.GROUP, group_id))
    return ConsumerGroupConfigs(
        effective_group_number("consumer.session.timeout.ms", own, broker),
        effective_group_number("consumer.heartbeat.interval.ms", own, broker),
    )


def assignment_interval_ms(context: GroupContext, group_id: str) -> int:
    own = context.image.configs_of(ConfigResource(ConfigResourceType.GROUP, group_id))
    return effective_group_number("consumer.assignment.interval.ms", own, context.settings.values)
