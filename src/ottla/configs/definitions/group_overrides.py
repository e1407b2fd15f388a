"""What each group can have otherwise than its broker (KIP-848, KIP-932, KIP-1071)."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import boolean, definitions, int32, string
from ottla.configs.validators import OffsetResetByDuration, at_least, one_of

GROUP_CONFIGS: Final = definitions(
    (
        int32(
            "consumer.assignment.interval.ms",
            1000,
            at_least(0),
            "Shortest time between two assignments of a consumer group, in milliseconds. It "
            "counts for groups of more than about 500 members or 2,000 partitions; smaller ones "
            "are assigned at once.",
        ),
        int32(
            "consumer.heartbeat.interval.ms",
            5000,
            at_least(1),
            "How often the members of a consumer group send a heartbeat, in milliseconds.",
        ),
        int32(
            "consumer.session.timeout.ms",
            45_000,
            at_least(1),
            "How long the coordinator waits for a heartbeat before it removes a member of a "
            "consumer group, in milliseconds.",
        ),
        int32(
            "share.assignment.interval.ms",
            1000,
            at_least(0),
            "Shortest time between two assignments of a share group, in milliseconds.",
        ),
        string(
            "share.auto.offset.reset",
            "latest",
            OffsetResetByDuration(),
            "Where a share group begins in a partition that is new to it: latest, earliest, or "
            "by_duration: and an ISO 8601 duration before now.",
        ),
        int32(
            "share.delivery.count.limit",
            5,
            at_least(2),
            "How often a record is delivered to a share group before it is given up.",
        ),
        int32(
            "share.heartbeat.interval.ms",
            5000,
            at_least(1),
            "How often the members of a share group send a heartbeat, in milliseconds.",
        ),
        string(
            "share.isolation.level",
            "read_uncommitted",
            one_of("read_committed", "read_uncommitted"),
            "Whether a share group gets only committed transactional records (read_committed) or "
            "all records (read_uncommitted).",
        ),
        int32(
            "share.partition.max.record.locks",
            2000,
            at_least(100),
            "How many records of one partition may be locked by members of a share group.",
        ),
        int32(
            "share.record.lock.duration.ms",
            30_000,
            at_least(1000),
            "How long a record is locked for the member of a share group that it was delivered to, "
            "in milliseconds.",
        ),
        boolean(
            "share.renew.acknowledge.enable",
            True,
            "Whether members of a share group may renew the lock of a record.",
        ),
        int32(
            "share.session.timeout.ms",
            45_000,
            at_least(1),
            "How long the coordinator waits for a heartbeat before it removes a member of a share "
            "group, in milliseconds.",
        ),
        int32(
            "streams.assignment.interval.ms",
            1000,
            at_least(0),
            "Shortest time between two assignments of a streams group, in milliseconds.",
        ),
        int32(
            "streams.heartbeat.interval.ms",
            5000,
            at_least(1),
            "How often the members of a streams group send a heartbeat, in milliseconds.",
        ),
        int32(
            "streams.initial.rebalance.delay.ms",
            3000,
            at_least(0),
            "How long the coordinator waits for more members of a new streams group before the "
            "first assignment, in milliseconds.",
        ),
        int32(
            "streams.num.standby.replicas",
            0,
            at_least(0),
            "How many standby replicas each task of a streams group has.",
        ),
        int32(
            "streams.session.timeout.ms",
            45_000,
            at_least(1),
            "How long the coordinator waits for a heartbeat before it removes a member of a "
            "streams group, in milliseconds.",
        ),
    )
)
