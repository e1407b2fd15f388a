"""The configs of one share group: the group's own (KIP-932), or the node's."""

from __future__ import annotations

from typing import NamedTuple

from ottla.configs.group_config import effective_group_number
from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.coordinator.groups.context import GroupContext


class ShareMemberConfigs(NamedTuple):
    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int


def member_configs(context: GroupContext, group_id: str) -> ShareMemberConfigs:
    broker = context.settings.values
    own = context.image.configs_of(ConfigResource(ConfigResourceType.GROUP, group_id))
    return ShareMemberConfigs(
        effective_group_number("share.session.timeout.ms", own, broker),
        effective_group_number("share.heartbeat.interval.ms", own, broker),
        effective_group_number("share.assignment.interval.ms", own, broker),
    )
