"""Quotas: how they are measured, and the broker's own, which can only be set dynamically."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import CLUSTER_WIDE, LONG_MAX, LOW, int32, int64, java_class
from ottla.configs.status import NO_JAVA_CLASSES
from ottla.configs.validators import at_least

QUOTAS_CONFIGS: Final = (
    int32("alter.log.dirs.replication.quota.window.num", 11, at_least(1), LOW),
    int32("alter.log.dirs.replication.quota.window.size.seconds", 1, at_least(1), LOW),
    java_class("client.quota.callback.class", None, LOW, NO_JAVA_CLASSES),
    int32("controller.quota.window.num", 11, at_least(1), LOW),
    int32("controller.quota.window.size.seconds", 1, at_least(1), LOW),
    int32("quota.window.num", 11, at_least(1), LOW),
    int32("quota.window.size.seconds", 1, at_least(1), LOW),
    int32("replication.quota.window.num", 11, at_least(1), LOW),
    int32("replication.quota.window.size.seconds", 1, at_least(1), LOW),
)

BROKER_QUOTA_CONFIGS: Final = (
    int64("follower.replication.throttled.rate", LONG_MAX, at_least(0), CLUSTER_WIDE),
    int64("leader.replication.throttled.rate", LONG_MAX, at_least(0), CLUSTER_WIDE),
    int64("replica.alter.log.dirs.io.max.bytes.per.second", LONG_MAX, at_least(0), CLUSTER_WIDE),
)
