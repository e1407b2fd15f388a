"""What the broker configs mean: share groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SHARE_GROUPS_TEXTS: Final[Mapping[str, str]] = {
    "errors.deadletterqueue.topic.name.prefix": (
        "What the name of a dead letter topic of a share group has to begin with."
    ),
    "group.share.assignment.interval.ms": (
        "Shortest time between two assignments of a share group, in milliseconds."
    ),
    "group.share.assignors": "Assignors of share groups.",
    "group.share.delivery.count.limit": (
        "Number of times that a record is delivered to a share group before it is archived."
    ),
    "group.share.heartbeat.interval.ms": (
        "How often the members of share groups send a heartbeat, in milliseconds."
    ),
    "group.share.initialize.retry.interval.ms": (
        "How long the coordinator waits before it tries again to initialize the state of a "
        "share group's partitions, in milliseconds."
    ),
    "group.share.max.assignment.interval.ms": (
        "Largest share.assignment.interval.ms that a group may have, in milliseconds."
    ),
    "group.share.max.delivery.count.limit": (
        "Largest share.delivery.count.limit that a group may have."
    ),
    "group.share.max.heartbeat.interval.ms": (
        "Largest share.heartbeat.interval.ms that a group may have, in milliseconds."
    ),
    "group.share.max.partition.max.record.locks": (
        "Largest share.partition.max.record.locks that a group may have."
    ),
    "group.share.max.record.lock.duration.ms": (
        "Largest share.record.lock.duration.ms that a group may have, in milliseconds."
    ),
    "group.share.max.session.timeout.ms": (
        "Largest share.session.timeout.ms that a group may have, in milliseconds."
    ),
    "group.share.max.share.sessions": (
        "Largest number of sessions of share consumers that a broker remembers."
    ),
    "group.share.max.size": "Largest number of members of a share group.",
    "group.share.min.assignment.interval.ms": (
        "Smallest share.assignment.interval.ms that a group may have, in milliseconds."
    ),
    "group.share.min.delivery.count.limit": (
        "Smallest share.delivery.count.limit that a group may have."
    ),
    "group.share.min.heartbeat.interval.ms": (
        "Smallest share.heartbeat.interval.ms that a group may have, in milliseconds."
    ),
    "group.share.min.partition.max.record.locks": (
        "Smallest share.partition.max.record.locks that a group may have."
    ),
    "group.share.min.record.lock.duration.ms": (
        "Smallest share.record.lock.duration.ms that a group may have, in milliseconds."
    ),
    "group.share.min.session.timeout.ms": (
        "Smallest share.session.timeout.ms that a group may have, in milliseconds."
    ),
    "group.share.partition.max.record.locks": (
        "How many records of one partition may be locked by members of a share group."
    ),
    "group.share.persister.class.name": "Java class that stores the state of share groups.",
    "group.share.record.lock.duration.ms": (
        "How long a record is locked for the member of a share group that it was delivered to, "
        "in milliseconds."
    ),
    "group.share.session.timeout.ms": (
        "How long the coordinator waits for a heartbeat before it removes a member of a share "
        "group, in milliseconds."
    ),
    "share.coordinator.append.linger.ms": (
        "How long the share coordinator collects records before it writes them, in "
        "milliseconds; -1 adapts to the load."
    ),
    "share.coordinator.cached.buffer.max.bytes": (
        "Largest write buffer that the share coordinator keeps for reuse, in bytes."
    ),
    "share.coordinator.cold.partition.snapshot.interval.ms": (
        "How often the share coordinator writes a snapshot of partitions that do not change, in "
        "milliseconds."
    ),
    "share.coordinator.load.buffer.size": (
        "Number of bytes that the share coordinator reads at once when it loads its state."
    ),
    "share.coordinator.snapshot.update.records.per.snapshot": (
        "Number of updates that the share coordinator writes between two snapshots of a "
        "partition's state."
    ),
    "share.coordinator.state.topic.compression.codec": (
        "Codec of the records in __share_group_state: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."
    ),
    "share.coordinator.state.topic.min.isr": (
        "min.insync.replicas of __share_group_state when that topic is created."
    ),
    "share.coordinator.state.topic.num.partitions": (
        "Number of partitions of __share_group_state when that topic is created."
    ),
    "share.coordinator.state.topic.prune.interval.ms": (
        "How often the share coordinator deletes records that it no longer needs from "
        "__share_group_state, in milliseconds."
    ),
    "share.coordinator.state.topic.replication.factor": (
        "Number of replicas of __share_group_state when that topic is created."
    ),
    "share.coordinator.state.topic.segment.bytes": (
        "Segment size of __share_group_state when that topic is created, in bytes."
    ),
    "share.coordinator.threads": "Number of threads of the share coordinator.",
    "share.coordinator.write.timeout.ms": (
        "How long the share coordinator waits for the replication of its records, in milliseconds."
    ),
    "share.fetch.purgatory.purge.interval.requests": (
        "Number of completed fetch requests of share consumers after which Kafka removes them "
        "from its memory."
    ),
}
