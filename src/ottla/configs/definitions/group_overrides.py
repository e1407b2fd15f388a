"""Configs that can be set for each group (KIP-848, KIP-932, KIP-1071)."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import boolean, definitions, int32, string
from ottla.configs.status import WITHOUT_EFFECT
from ottla.configs.validators import OffsetResetByDuration, at_least, one_of

# Ottla's own.
OTTLA_GROUP_CONFIGS: Final = (
    boolean("ottla.share.fair", False),
    boolean("ottla.share.key.order", False),
    int32("ottla.share.retry.delay.max.ms", 0, at_least(0)),
    int32("ottla.share.retry.delay.ms", 0, at_least(0)),
)

# KIP-1191, of Kafka 4.4.
DEAD_LETTER_CONFIGS: Final = (
    boolean("errors.deadletterqueue.copy.record.enable", False),
    string("errors.deadletterqueue.topic.name", ""),
)

GROUP_CONFIGS: Final = definitions(
    (
        *OTTLA_GROUP_CONFIGS,
        *DEAD_LETTER_CONFIGS,
        int32("consumer.assignment.interval.ms", 1000, at_least(0)),
        int32("consumer.heartbeat.interval.ms", 5000, at_least(1)),
        int32("consumer.session.timeout.ms", 45_000, at_least(1)),
        int32("share.assignment.interval.ms", 1000, at_least(0)),
        string("share.auto.offset.reset", "latest", OffsetResetByDuration()),
        int32("share.delivery.count.limit", 5, at_least(2)),
        int32("share.heartbeat.interval.ms", 5000, at_least(1)),
        string(
            "share.isolation.level",
            "read_uncommitted",
            one_of("read_committed", "read_uncommitted"),
        ),
        int32("share.partition.max.record.locks", 2000, at_least(100)),
        int32("share.record.lock.duration.ms", 30_000, at_least(1000)),
        boolean("share.renew.acknowledge.enable", True),
        int32("share.session.timeout.ms", 45_000, at_least(1)),
        int32("streams.assignment.interval.ms", 1000, at_least(0), WITHOUT_EFFECT),
        int32("streams.heartbeat.interval.ms", 5000, at_least(1), WITHOUT_EFFECT),
        int32("streams.initial.rebalance.delay.ms", 3000, at_least(0), WITHOUT_EFFECT),
        int32("streams.num.standby.replicas", 0, at_least(0), WITHOUT_EFFECT),
        int32("streams.session.timeout.ms", 45_000, at_least(1), WITHOUT_EFFECT),
    )
)
