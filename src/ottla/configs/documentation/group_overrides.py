"""What the configs of groups mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GROUP_TEXTS: Final[Mapping[str, str]] = {
    "consumer.assignment.interval.ms": (
        "Shortest time between two assignments of a consumer group, in milliseconds. It applies "
        "to groups of more than about 500 members or 2,000 partitions; smaller groups are "
        "assigned at once."
    ),
    "consumer.heartbeat.interval.ms": (
        "How often the members of a consumer group send a heartbeat, in milliseconds."
    ),
    "consumer.session.timeout.ms": (
        "How long the coordinator waits for a heartbeat before it removes a member of a "
        "consumer group, in milliseconds."
    ),
    "errors.deadletterqueue.copy.record.enable": (
        "Whether the key and value of a record that a share group gives up are copied to its dead "
        "letter topic; otherwise only its origin is written."
    ),
    "errors.deadletterqueue.topic.name": (
        "Topic for records that a share group gives up: rejected ones, and those delivered as "
        "often as share.delivery.count.limit allows. It needs the feature share.version 2; the "
        "topic needs errors.deadletterqueue.group.enable. Empty: none."
    ),
    "ottla.share.fair": (
        "Whether each member of a share group may lock at most its part of "
        "share.partition.max.record.locks, so that slow members leave records to fast ones."
    ),
    "ottla.share.key.order": (
        "Whether records with the same key are delivered to one member of a share group at a "
        "time, in their order. Records without a key have no order."
    ),
    "ottla.share.retry.delay.max.ms": (
        "Longest delay between two deliveries of a record to a share group, in milliseconds. If "
        "it is longer than ottla.share.retry.delay.ms, the delay doubles with each delivery."
    ),
    "ottla.share.retry.delay.ms": (
        "How long a released record waits before it is delivered to a share group again, in "
        "milliseconds."
    ),
    "share.assignment.interval.ms": (
        "Shortest time between two assignments of a share group, in milliseconds."
    ),
    "share.auto.offset.reset": (
        "Where a share group begins in a partition that is new to it: latest, earliest, or "
        "by_duration: and an ISO 8601 duration before now."
    ),
    "share.delivery.count.limit": (
        "Number of times that a record is delivered to a share group before it is archived."
    ),
    "share.heartbeat.interval.ms": (
        "How often the members of a share group send a heartbeat, in milliseconds."
    ),
    "share.isolation.level": (
        "Whether a share group gets only committed transactional records (read_committed) or "
        "all records (read_uncommitted)."
    ),
    "share.partition.max.record.locks": (
        "How many records of one partition may be locked by members of a share group."
    ),
    "share.record.lock.duration.ms": (
        "How long a record is locked for the member of a share group that it was delivered to, "
        "in milliseconds."
    ),
    "share.renew.acknowledge.enable": (
        "Whether members of a share group may renew the lock of a record."
    ),
    "share.session.timeout.ms": (
        "How long the coordinator waits for a heartbeat before it removes a member of a share "
        "group, in milliseconds."
    ),
    "streams.assignment.interval.ms": (
        "Shortest time between two assignments of a streams group, in milliseconds."
    ),
    "streams.heartbeat.interval.ms": (
        "How often the members of a streams group send a heartbeat, in milliseconds."
    ),
    "streams.initial.rebalance.delay.ms": (
        "How long the coordinator waits for more members of a new streams group before the "
        "first assignment, in milliseconds."
    ),
    "streams.num.standby.replicas": "How many standby replicas each task of a streams group has.",
    "streams.session.timeout.ms": (
        "How long the coordinator waits for a heartbeat before it removes a member of a streams "
        "group, in milliseconds."
    ),
}
