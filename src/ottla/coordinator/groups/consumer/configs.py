"""The configs of one group: its own, or those of the node."""

from __future__ import annotations

from typing import NamedTuple

from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.coordinator.groups.context import GroupContext


class ConsumerGroupConfigs(NamedTuple):
    session_timeout_ms: int
    heartbeat_interval_ms: int


def group_configs(context: GroupContext, group_id: str) -> ConsumerGroupConfigs:
    settings = context.settings
    own = context.image.configs_of(ConfigResource(ConfigResourceType.GROUP, group_id))
    return ConsumerGroupConfigs(
        int(own.get("consumer.session.timeout.ms", settings.consumer_session_timeout_ms)),
        int(own.get("consumer.heartbeat.interval.ms", settings.consumer_heartbeat_interval_ms)),
    )
