"""Moves a member from its current assignment to its target, independently of other members.

First the member revokes the partitions that are not in its target, and keeps its epoch until it
confirms this. Then it moves to the target epoch and gets the partitions that no other member owns.
It gets the others when their owners have revoked them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ottla.assignors.assignor import (
    NO_PARTITIONS,
    Assignment,
    TopicIdPartition,
)
from ottla.coordinator.groups.consumer.member import ConsumerMember, MemberState
from ottla.model import ErrorCode, KafkaError


def reconcile(
    member: ConsumerMember,
    *,
    target_epoch: int,
    target: Assignment,
    owned: Assignment | None,
    is_free: Callable[[TopicIdPartition], bool],
) -> ConsumerMember:
    """The member's next state. `owned` is the partitions in its request, or None."""
    match member.state:
        case MemberState.STABLE:
            if member.epoch == target_epoch:
                return member
            epoch = member.epoch
        case MemberState.UNREVOKED_PARTITIONS:
            if owned is None or owned & member.pending_revocation:
                return member
            # The revocation completes the member's current epoch.
            epoch = member.epoch + 1
        case MemberState.UNRELEASED_PARTITIONS:
            epoch = member.epoch
        case MemberState.UNKNOWN:
            if owned is None or owned:
                raise KafkaError(
                    ErrorCode.FENCED_MEMBER_EPOCH,
                    f"the state of member {member.id} is not supported by this "
                    "coordinator; join again",
                )
            epoch = target_epoch
    kept = member.assigned & target
    revoked = member.assigned - target
    if revoked and (owned is None or owned & revoked):
        return _moved(
            member,
            epoch,
            state=MemberState.UNREVOKED_PARTITIONS,
            assigned=kept,
            pending_revocation=revoked,
        )
    missing = target - kept
    released = frozenset(partition for partition in missing if is_free(partition))
    is_complete = released == missing
    return _moved(
        member,
        target_epoch,
        state=MemberState.STABLE if is_complete else MemberState.UNRELEASED_PARTITIONS,
        assigned=kept | released,
        pending_revocation=NO_PARTITIONS,
    )


def _moved(
    member: ConsumerMember,
    epoch: int,
    *,
    state: MemberState,
    assigned: Assignment,
    pending_revocation: Assignment,
) -> ConsumerMember:
    return replace(
        member,
        epoch=epoch,
        # If the response is lost, the member's next request still has this epoch.
        previous_epoch=member.epoch,
        state=state,
        assigned=assigned,
        pending_revocation=pending_revocation,
    )
