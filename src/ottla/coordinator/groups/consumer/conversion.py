"""Online conversion of groups: from classic to consumer when the first member of the consumer
protocol joins, and back when the last one leaves."""

from __future__ import annotations

from ottla.coordinator.groups.classic.group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from ottla.coordinator.groups.classic.member import ClassicMember
from ottla.coordinator.groups.classic.states import ClassicState
from ottla.coordinator.groups.consumer.embedded_protocol import (
    read_assignment,
    read_subscription,
    read_version,
    write_assignment,
)
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.groups.consumer.group_records import (
    current_assignment_record,
    group_record,
    member_record,
    target_epoch_record,
    target_record,
)
from ottla.coordinator.groups.consumer.member import ConsumerMember
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.wire.stored.consumer_groups import ClassicMemberMetadata, ClassicProtocol

_UPGRADE = ("upgrade", "bidirectional")
_DOWNGRADE = ("downgrade", "bidirectional")


def can_upgrade(context: GroupContext, group: ClassicGroup) -> bool:
    settings = context.settings
    return (
        settings.consumer_migration_policy.lower() in _UPGRADE
        and group.protocol_type == CONSUMER_PROTOCOL_TYPE
        and group.protocol is not None
        and len(group.members) <= settings.consumer_max_size
    )


def upgraded(context: GroupContext, classic: ClassicGroup) -> ConsumerGroup:
    """The consumer group with the current assignments of the classic group. Raises `ProtocolError`
    if subscriptions or assignments cannot be decoded."""
    group = ConsumerGroup(classic.id)
    group.epoch = group.target_epoch = classic.generation
    for member in classic.members.values():
        subscription = read_subscription(member.metadata_for(classic.protocol or ""))
        assigned = read_assignment(member.assignment, context.image)
        group.targets[member.id] = assigned
        group.put_member(
            ConsumerMember(
                member.id,
                instance_id=member.instance_id,
                rack_id=subscription.rack_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout_ms=member.rebalance_timeout_ms,
                topics=frozenset(subscription.topics),
                classic=ClassicMemberMetadata(
                    session_timeout_ms=member.session_timeout_ms,
                    supported_protocols=[
                        ClassicProtocol(name=name, metadata=metadata)
                        for name, metadata in member.protocols.items()
                    ],
                ),
                epoch=classic.generation,
                previous_epoch=classic.generation,
                assigned=assigned,
            )
        )
    return group


def upgrade_records(
    classic: ClassicGroup, group: ConsumerGroup, *, now_ms: int
) -> list[CoordinatorRecord]:
    return [
        *classic.tombstones(),
        *(member_record(group.id, member) for member in group.members.values()),
        group_record(group.id, epoch=group.epoch, metadata_hash=0),
        *(target_record(group.id, *target) for target in group.targets.items()),
        target_epoch_record(group.id, group.target_epoch, now_ms=now_ms),
        *(current_assignment_record(group.id, member) for member in group.members.values()),
    ]


def can_downgrade(context: GroupContext, group: ConsumerGroup, leaving: ConsumerMember) -> bool:
    settings = context.settings
    left_count = len(group.members) - 1
    left_classic_count = group.counts.classic - (leaving.classic is not None)
    return (
        0 < left_count == left_classic_count
        and settings.consumer_migration_policy.lower() in _DOWNGRADE
        and left_count <= settings.max_size
    )


def downgraded(
    context: GroupContext, group: ConsumerGroup, leaving: ConsumerMember
) -> ClassicGroup:
    """The classic group without the leaving member, with the members' target assignments."""
    classic = ClassicGroup(group.id, now_ms=context.now_ms(), state=ClassicState.STABLE)
    classic.generation = group.epoch
    for member in group.members.values():
        if member.id == leaving.id:
            continue
        metadata = member.classic
        assert metadata is not None
        protocols = {each.name: each.metadata for each in metadata.supported_protocols}
        version = read_version(next(iter(protocols.values())))
        classic.add(
            ClassicMember(
                member.id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.rebalance_timeout_ms,
                metadata.session_timeout_ms,
                CONSUMER_PROTOCOL_TYPE,
                protocols,
                write_assignment(group.target_of(member.id), context.image, version=version),
            )
        )
    classic.protocol = classic.select_protocol()
    classic.note_topics()
    return classic
