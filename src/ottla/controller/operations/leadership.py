"""Partition changes that follow from the image: which replicas can lead, and the topic's configs.

When a broker fails or joins, very many partitions change at once, and most of them are alike: same
replicas and leader, other epochs. Each kind of partition is decided once (partition_change.py has
the rules), so thousands of changes take milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from ottla.controller.operation import Context
from ottla.controller.operations.deleted_topics import partition_record
from ottla.controller.operations.partition_change import ElectionRule, Rules, change_partition
from ottla.metadata import MetadataImage, PartitionRegistration, TopicImage
from ottla.metadata.partition import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from ottla.model import Uuid
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord


class BrokerChange(NamedTuple):
    """A change of a broker that the image does not show yet."""

    # Leaves the ISR and can no longer lead.
    removed: int | None = None
    # Can lead from now on.
    added: int | None = None
    # Restarted after an unclean shutdown, may lack records, and is no longer eligible.
    unclean: int | None = None


_NO_CHANGE: Final = BrokerChange()


def leadership_records(
    image: MetadataImage,
    context: Context,
    change: BrokerChange,
    is_affected: Callable[[PartitionRegistration], bool],
) -> list[Message]:
    """The partition changes that follow from a broker's change."""
    changes = PartitionChanges(image, context, change=change)
    records: list[Message] = []
    for topic in image.topics:
        for partition_id, partition in topic.partitions.items():
            if is_affected(partition):
                record = changes.record(topic, partition_id)
                if record is not None:
                    records.append(record)
    records += _deleted_records(image, changes, is_affected)
    return records


def _deleted_records(
    image: MetadataImage,
    changes: PartitionChanges,
    is_affected: Callable[[PartitionRegistration], bool],
) -> Iterator[Message]:
    """The same changes of deleted topics, which are restored with them."""
    for deleted in image.deleted_topics:
        topic = TopicImage(deleted.id, deleted.resource_name, deleted.partitions)
        for partition_id, partition in deleted.partitions.items():
            if is_affected(partition):
                change = changes.record(topic, partition_id)
                if change is not None:
                    after = partition.changed_by(change, image.topics.shared_tuples)
                    yield partition_record(deleted, partition_id, after)


class PartitionChanges:
    """Creates the partition change records of one operation. The topic's configs decide about
    unclean elections, unless the operation sets `election`."""

    def __init__(
        self,
        image: MetadataImage,
        context: Context,
        *,
        change: BrokerChange = _NO_CHANGE,
        election: ElectionRule | None = None,
    ) -> None:
        self._image = image
        self._context = context
        self._change = change
        self._gone = {change.removed, change.unclean}
        self._election = election
        self._topic: TopicImage | None = None
        self._topic_rules = (0, ElectionRule.ONLINE)
        # The decisions for partitions that are alike; see `_kind`.
        self._decided: dict[tuple[Any, ...], PartitionChangeRecord | None] = {}

    def record(
        self,
        topic: TopicImage,
        partition_id: int,
        *,
        isr: tuple[int, ...] | None = None,
        leader_recovery_state: int | None = None,
    ) -> PartitionChangeRecord | None:
        """The record for a partition with a new ISR, or for one affected by the broker change; None
        if nothing changes."""
        if topic is not self._topic:
            self._enter(topic)
        partition = topic.partitions[partition_id]
        kind = (self._topic_rules, *_kind(partition), isr, leader_recovery_state)
        try:
            decided = self._decided[kind]
        except KeyError:
            decided = self._decided[kind] = self._decide(partition, isr, leader_recovery_state)
        return None if decided is None else _for_partition(decided, topic.id, partition_id)

    def retarget(
        self, topic: TopicImage, partition_id: int, target: PartitionRegistration
    ) -> PartitionChangeRecord | None:
        """The record that changes a partition to any other target; None if nothing changes."""
        if topic is not self._topic:
            self._enter(topic)
        partition = topic.partitions[partition_id]
        record = change_partition(partition, target, self._rules(partition, target))
        return None if record is None else _for_partition(record, topic.id, partition_id)

    def _enter(self, topic: TopicImage) -> None:
        config = self._context.node.topic_config(self._image.topic_configs(topic.name))
        election = self._election
        if election is None:
            is_unclean = config.unclean_leader_election_enable
            election = ElectionRule.UNCLEAN if is_unclean else ElectionRule.ONLINE
        self._topic = topic
        self._topic_rules = (config.min_insync_replicas, election)

    def _decide(
        self,
        partition: PartitionRegistration,
        isr: tuple[int, ...] | None,
        leader_recovery_state: int | None,
    ) -> PartitionChangeRecord | None:
        if isr is None:
            isr = tuple(each for each in partition.isr if each not in self._gone)
        target = partition._replace(isr=isr)
        if leader_recovery_state is not None:
            target = target._replace(leader_recovery_state=leader_recovery_state)
        # The only replica stays eligible: no other replica has more records.
        unclean = self._change.unclean if len(partition.replicas) > 1 else None
        rules = self._rules(partition, target)
        return change_partition(partition, target, rules, unclean=unclean)

    def _rules(self, partition: PartitionRegistration, target: PartitionRegistration) -> Rules:
        def is_leader_possible(replica: int) -> bool:
            """A replica that is only being added has no records yet and cannot lead."""
            return (
                replica not in self._gone
                and replica in partition.replicas
                and (replica == self._change.added or self._image.is_active(replica))
                and is_in_online_directory(self._image, target, replica)
            )

        min_insync_replicas, election = self._topic_rules
        return Rules(
            can_lead=is_leader_possible,
            min_insync_replicas=min_insync_replicas,
            has_eligible_leader_replicas=self._image.has_eligible_leader_replicas,
            election=election,
        )


def can_lead(image: MetadataImage, partition: PartitionRegistration, replica: int) -> bool:
    """Whether a replica of the partition is available as leader."""
    return image.is_active(replica) and is_in_online_directory(image, partition, replica)


def is_in_online_directory(
    image: MetadataImage, partition: PartitionRegistration, replica: int
) -> bool:
    online = image.brokers[replica].log_dirs
    directory = partition.directory_of(replica)
    return not online or directory in (*online, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY)


assert PartitionRegistration._fields[3:5] == ("leader_epoch", "partition_epoch")


def _kind(partition: PartitionRegistration) -> tuple[Any, ...]:
    """All fields of a partition except its epochs, on which no decision depends."""
    return partition[:3], partition[5:]


def _for_partition(
    decided: PartitionChangeRecord, topic_id: Uuid, partition_id: int
) -> PartitionChangeRecord:
    """The decided change for one of the partitions. The lists are shared: records are never
    modified."""
    return PartitionChangeRecord(
        partition_id=partition_id,
        topic_id=topic_id,
        isr=decided.isr,
        leader=decided.leader,
        replicas=decided.replicas,
        removing_replicas=decided.removing_replicas,
        adding_replicas=decided.adding_replicas,
        leader_recovery_state=decided.leader_recovery_state,
        directories=decided.directories,
        eligible_leader_replicas=decided.eligible_leader_replicas,
        last_known_elr=decided.last_known_elr,
    )
