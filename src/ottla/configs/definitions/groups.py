"""Classic, consumer and streams groups, and the offsets that they commit."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    CLUSTER_WIDE,
    HIGH,
    INT_MAX,
    INTERNAL,
    int16,
    int32,
    int64,
    string,
    strings,
)
from ottla.configs.status import WITHOUT_EFFECT
from ottla.configs.validators import OneOfInAnyCase, at_least, list_of

GROUPS_CONFIGS: Final = (
    int32("group.consumer.assignment.interval.ms", 1000, at_least(0), CLUSTER_WIDE),
    strings("group.consumer.assignors", ("uniform", "range"), list_of(may_be_empty=False)),
    int32("group.consumer.heartbeat.interval.ms", 5000, at_least(1)),
    int32("group.consumer.max.assignment.interval.ms", 15_000, at_least(0)),
    int32("group.consumer.max.heartbeat.interval.ms", 15_000, at_least(1)),
    int32("group.consumer.max.session.timeout.ms", 60_000, at_least(1)),
    int32("group.consumer.max.size", INT_MAX, at_least(1)),
    string(
        "group.consumer.migration.policy",
        "bidirectional",
        OneOfInAnyCase(("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL")),
    ),
    int32("group.consumer.min.assignment.interval.ms", 0, at_least(0)),
    int32("group.consumer.min.heartbeat.interval.ms", 5000, at_least(1)),
    int32("group.consumer.min.session.timeout.ms", 45_000, at_least(1)),
    int32(
        "group.consumer.regex.refresh.interval.ms",
        600_000,
        at_least(10_000),
        INTERNAL,
        WITHOUT_EFFECT,
    ),
    int32("group.consumer.session.timeout.ms", 45_000, at_least(1)),
    int32("group.coordinator.append.linger.ms", -1, at_least(-1), WITHOUT_EFFECT),
    int32("group.coordinator.background.threads", 2, at_least(1), HIGH, WITHOUT_EFFECT),
    int32(
        "group.coordinator.cached.buffer.max.bytes",
        1_048_588,
        at_least(524_288),
        CLUSTER_WIDE,
        WITHOUT_EFFECT,
    ),
    strings(
        "group.coordinator.rebalance.protocols",
        ("classic", "consumer", "streams"),
        list_of("consumer", "classic", "share", "streams", may_be_empty=False),
        WITHOUT_EFFECT,
    ),
    int32("group.coordinator.threads", 4, at_least(1), HIGH, WITHOUT_EFFECT),
    int32("group.initial.rebalance.delay.ms", 3000),
    int32("group.max.session.timeout.ms", 1_800_000),
    int32("group.max.size", INT_MAX, at_least(1)),
    int32("group.min.session.timeout.ms", 6000),
    int32("group.streams.assignment.interval.ms", 1000, at_least(0), CLUSTER_WIDE, WITHOUT_EFFECT),
    int32("group.streams.heartbeat.interval.ms", 5000, at_least(1), WITHOUT_EFFECT),
    int32("group.streams.initial.rebalance.delay.ms", 3000, at_least(0), WITHOUT_EFFECT),
    int32("group.streams.max.assignment.interval.ms", 15_000, at_least(0), WITHOUT_EFFECT),
    int32("group.streams.max.heartbeat.interval.ms", 15_000, at_least(1), WITHOUT_EFFECT),
    int32("group.streams.max.session.timeout.ms", 60_000, at_least(1), WITHOUT_EFFECT),
    int32("group.streams.max.size", INT_MAX, at_least(1), WITHOUT_EFFECT),
    int32("group.streams.max.standby.replicas", 2, at_least(0), WITHOUT_EFFECT),
    int32("group.streams.min.assignment.interval.ms", 0, at_least(0), WITHOUT_EFFECT),
    int32("group.streams.min.heartbeat.interval.ms", 5000, at_least(1), WITHOUT_EFFECT),
    int32("group.streams.min.session.timeout.ms", 45_000, at_least(1), WITHOUT_EFFECT),
    int32("group.streams.num.standby.replicas", 0, at_least(0), WITHOUT_EFFECT),
    int32("group.streams.session.timeout.ms", 45_000, at_least(1), WITHOUT_EFFECT),
    int32("offset.metadata.max.bytes", 4096, HIGH),
    int32("offsets.commit.timeout.ms", 5000, at_least(1), HIGH),
    int32("offsets.load.buffer.size", 5_242_880, at_least(1), HIGH),
    int64("offsets.retention.check.interval.ms", 600_000, at_least(1), HIGH),
    int32("offsets.retention.minutes", 10_080, at_least(1), HIGH),
    int32("offsets.topic.compression.codec", 0, HIGH),
    int32("offsets.topic.num.partitions", 50, at_least(1), HIGH),
    int16("offsets.topic.replication.factor", 3, at_least(1), HIGH),
    int32("offsets.topic.segment.bytes", 104_857_600, at_least(1), HIGH),
)
