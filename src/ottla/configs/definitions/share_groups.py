"""Share groups and their coordinator's state topic (KIP-932)."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    CLUSTER_WIDE,
    HIGH,
    INTERNAL,
    LOW,
    int16,
    int32,
    string,
    strings,
    without_effect,
)
from ottla.configs.validators import at_least, between, list_of

SHARE_GROUPS_CONFIGS: Final = (
    # KIP-1191, of Kafka 4.4.
    string("errors.deadletterqueue.topic.name.prefix", "dlq."),
    int32("group.share.assignment.interval.ms", 1000, at_least(0), CLUSTER_WIDE),
    int32("group.share.delivery.count.limit", 5, between(2, 10)),
    int32("group.share.heartbeat.interval.ms", 5000, at_least(1)),
    int32("group.share.initialize.retry.interval.ms", 30_000, at_least(1), LOW, INTERNAL),
    int32("group.share.max.assignment.interval.ms", 15_000, at_least(0)),
    int32("group.share.max.delivery.count.limit", 10, between(5, 25)),
    int32("group.share.max.heartbeat.interval.ms", 15_000, at_least(1)),
    int32("group.share.max.partition.max.record.locks", 4000, between(2000, 10_000)),
    int32("group.share.max.record.lock.duration.ms", 60_000, between(30_000, 3_600_000)),
    int32("group.share.max.session.timeout.ms", 60_000, at_least(1)),
    int32("group.share.max.share.sessions", 2000, at_least(1)),
    int32("group.share.max.size", 200, between(1, 1000)),
    int32("group.share.min.assignment.interval.ms", 0, at_least(0)),
    int32("group.share.min.delivery.count.limit", 2, between(2, 5)),
    int32("group.share.min.heartbeat.interval.ms", 5000, at_least(1)),
    int32("group.share.min.partition.max.record.locks", 100, between(100, 2000)),
    int32("group.share.min.record.lock.duration.ms", 15_000, between(1000, 30_000)),
    int32("group.share.min.session.timeout.ms", 45_000, at_least(1)),
    int32("group.share.partition.max.record.locks", 2000, between(100, 10_000)),
    int32("group.share.record.lock.duration.ms", 30_000, between(1000, 3_600_000)),
    int32("group.share.session.timeout.ms", 45_000, at_least(1)),
    int32(
        "share.coordinator.cold.partition.snapshot.interval.ms", 300_000, at_least(1), LOW, INTERNAL
    ),
    int32("share.coordinator.load.buffer.size", 5_242_880, at_least(1), HIGH),
    int32("share.coordinator.snapshot.update.records.per.snapshot", 500, between(0, 500)),
    int32("share.coordinator.state.topic.compression.codec", 0, HIGH),
    int16("share.coordinator.state.topic.min.isr", 2, at_least(1), HIGH),
    int32("share.coordinator.state.topic.num.partitions", 50, at_least(1), HIGH),
    int32("share.coordinator.state.topic.prune.interval.ms", 300_000, at_least(1), LOW, INTERNAL),
    int16("share.coordinator.state.topic.replication.factor", 3, at_least(1), HIGH),
    int32("share.coordinator.state.topic.segment.bytes", 104_857_600, at_least(1), HIGH),
    int32("share.coordinator.write.timeout.ms", 5000, at_least(1), HIGH),
    *without_effect(
        strings("group.share.assignors", ("simple",), list_of(may_be_empty=False)),
        string(
            "group.share.persister.class.name",
            "org.apache.kafka.server.share.persister.DefaultStatePersister",
            INTERNAL,
        ),
        int32("share.coordinator.append.linger.ms", -1, at_least(-1)),
        int32(
            "share.coordinator.cached.buffer.max.bytes", 1_048_588, at_least(524_288), CLUSTER_WIDE
        ),
        int32("share.coordinator.threads", 1, at_least(1)),
        int32("share.fetch.purgatory.purge.interval.requests", 1000),
    ),
)
