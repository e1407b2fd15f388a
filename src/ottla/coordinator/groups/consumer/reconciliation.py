"""How a member comes from what it has to what it is to have, without anybody else waiting.

First it lets go of what the target does not give it, and stays in its epoch until it says that it
has. Then it is in the target's epoch and is given what nobody else owns any more; the rest follows
as others let go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ottla.coordinator.groups.assignors.assignor import (
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
    """The member's next state. `owned` is what it says it has, None if it does not say."""
    match member.state:
        case MemberState.STABLE:
            if member.epoch == target_epoch:
                return member
            epoch = member.epoch
        case MemberState.UNREVOKED_PARTITIONS:
            if owned is None or owned & member.pending_revocation:
                return member
            # That was the last it had to do for its epoch.
            epoch = member.epoch + 1
        case MemberState.UNRELEASED_PARTITIONS:
            epoch = member.epoch
        case MemberState.UNKNOWN:
            if owned is None or owned:
                raise KafkaError(
                    ErrorCode.FENCED_MEMBER_EPOCH,
                    f"member {member.id} is in a state that is not known here; join again",
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
        # The answer may get lost, and then the member still says this one.
        previous_epoch=member.epoch,
        state=state,
        assigned=assigned,
        pending_revocation=pending_revocation,
    )
