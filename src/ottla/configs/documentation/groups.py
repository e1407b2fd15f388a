"""What the broker configs mean: classic, consumer and streams groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GROUPS_TEXTS: Final[Mapping[str, str]] = {
    "group.consumer.assignment.interval.ms": (
        "Shortest time between two assignments of a consumer group, in milliseconds. It applies "
        "to groups of more than about 500 members or 2,000 partitions; smaller groups are "
        "assigned at once."
    ),
    "group.consumer.assignors": (
        "Assignors of consumer groups, separated by commas: uniform and range. The first is "
        "used by members that name none."
    ),
    "group.consumer.heartbeat.interval.ms": (
        "How often the members of consumer groups send a heartbeat, in milliseconds. A group "
        "can override it."
    ),
    "group.consumer.max.assignment.interval.ms": (
        "Largest consumer.assignment.interval.ms that a group may have, in milliseconds."
    ),
    "group.consumer.max.heartbeat.interval.ms": (
        "Largest consumer.heartbeat.interval.ms that a group may have, in milliseconds."
    ),
    "group.consumer.max.session.timeout.ms": (
        "Largest consumer.session.timeout.ms that a group may have, in milliseconds."
    ),
    "group.consumer.max.size": (
        "Largest number of members of a consumer group. Further members receive "
        "GROUP_MAX_SIZE_REACHED."
    ),
    "group.consumer.migration.policy": (
        "Which groups may change between the classic and the consumer protocol while they have "
        "members: upgrade (classic to consumer), downgrade, bidirectional or disabled."
    ),
    "group.consumer.min.assignment.interval.ms": (
        "Smallest consumer.assignment.interval.ms that a group may have, in milliseconds."
    ),
    "group.consumer.min.heartbeat.interval.ms": (
        "Smallest consumer.heartbeat.interval.ms that a group may have, in milliseconds."
    ),
    "group.consumer.min.session.timeout.ms": (
        "Smallest consumer.session.timeout.ms that a group may have, in milliseconds."
    ),
    "group.consumer.regex.refresh.interval.ms": (
        "How often the coordinator matches subscriptions by regular expression with the topics "
        "again, in milliseconds. Ottla does so when topics change."
    ),
    "group.consumer.session.timeout.ms": (
        "How long the coordinator waits for a heartbeat before it removes a member of a "
        "consumer group, in milliseconds. A group can override it."
    ),
    "group.coordinator.append.linger.ms": (
        "How long the group coordinator collects records before it writes them, in "
        "milliseconds; -1 adapts to the load. Ottla writes at once and combines what arrives "
        "during a write."
    ),
    "group.coordinator.background.threads": (
        "Number of threads in which the group coordinator computes assignments and matches "
        "regular expressions."
    ),
    "group.coordinator.cached.buffer.max.bytes": (
        "Largest write buffer that the group coordinator keeps for reuse, in bytes."
    ),
    "group.coordinator.rebalance.protocols": (
        "Group protocols that the broker offers. Ottla always offers classic and consumer."
    ),
    "group.coordinator.threads": (
        "Number of threads of the group coordinator. Ottla's coordinator runs in the thread "
        "that handles requests."
    ),
    "group.initial.rebalance.delay.ms": (
        "How long the coordinator waits for more members of a new classic group before the "
        "first assignment, in milliseconds."
    ),
    "group.max.session.timeout.ms": (
        "Largest session timeout that a member of a classic group may request, in milliseconds."
    ),
    "group.max.size": (
        "Largest number of members of a classic group. Further members receive "
        "GROUP_MAX_SIZE_REACHED."
    ),
    "group.min.session.timeout.ms": (
        "Smallest session timeout that a member of a classic group may request, in milliseconds."
    ),
    "group.streams.assignment.interval.ms": (
        "Shortest time between two assignments of a streams group, in milliseconds."
    ),
    "group.streams.heartbeat.interval.ms": (
        "How often the members of streams groups send a heartbeat, in milliseconds."
    ),
    "group.streams.initial.rebalance.delay.ms": (
        "How long the coordinator waits for more members of a new streams group before the "
        "first assignment, in milliseconds."
    ),
    "group.streams.max.assignment.interval.ms": (
        "Largest streams.assignment.interval.ms that a group may have, in milliseconds."
    ),
    "group.streams.max.heartbeat.interval.ms": (
        "Largest streams.heartbeat.interval.ms that a group may have, in milliseconds."
    ),
    "group.streams.max.session.timeout.ms": (
        "Largest streams.session.timeout.ms that a group may have, in milliseconds."
    ),
    "group.streams.max.size": "Largest number of members of a streams group.",
    "group.streams.max.standby.replicas": (
        "Largest streams.num.standby.replicas that a group may have."
    ),
    "group.streams.min.assignment.interval.ms": (
        "Smallest streams.assignment.interval.ms that a group may have, in milliseconds."
    ),
    "group.streams.min.heartbeat.interval.ms": (
        "Smallest streams.heartbeat.interval.ms that a group may have, in milliseconds."
    ),
    "group.streams.min.session.timeout.ms": (
        "Smallest streams.session.timeout.ms that a group may have, in milliseconds."
    ),
    "group.streams.num.standby.replicas": (
        "How many standby replicas each task of a streams group has."
    ),
    "group.streams.session.timeout.ms": (
        "How long the coordinator waits for a heartbeat before it removes a member of a streams "
        "group, in milliseconds."
    ),
    "offset.metadata.max.bytes": "Longest text that a client may store with a committed offset.",
    "offsets.commit.timeout.ms": (
        "How long the coordinator waits for the replication of its records, such as committed "
        "offsets, before the request fails, in milliseconds."
    ),
    "offsets.load.buffer.size": (
        "Number of bytes that the coordinator reads at once when it loads groups from "
        "__consumer_offsets."
    ),
    "offsets.retention.check.interval.ms": (
        "How often the coordinator looks for committed offsets that have expired, in milliseconds."
    ),
    "offsets.retention.minutes": (
        "How long committed offsets are kept after the group became empty, or, for offsets of "
        "consumers without a group, after the commit, in minutes."
    ),
    "offsets.topic.compression.codec": (
        "Codec of the records in __consumer_offsets: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."
    ),
    "offsets.topic.num.partitions": (
        "Number of partitions of __consumer_offsets when that topic is created. Do not change "
        "it later: groups would belong to other coordinators."
    ),
    "offsets.topic.replication.factor": (
        "Number of replicas of __consumer_offsets when that topic is created. If the setting is "
        "not in the node's properties, Ottla creates no more replicas than there are brokers."
    ),
    "offsets.topic.segment.bytes": (
        "Segment size of __consumer_offsets when that topic is created, in bytes."
    ),
}
