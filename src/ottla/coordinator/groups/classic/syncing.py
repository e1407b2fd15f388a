"""SyncGroup: the leader sends all assignments, and each member gets its own.

Members get them once they are committed, so that a new coordinator has them too.
Errors: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL,
REBALANCE_IN_PROGRESS.
"""

from __future__ import annotations

from ottla.coordinator.groups.classic.group import ClassicGroup, illegal_generation
from ottla.coordinator.groups.classic.group_records import group_record
from ottla.coordinator.groups.classic.rebalancing import ClassicRebalancing
from ottla.coordinator.groups.classic.responses import synced
from ottla.coordinator.groups.classic.states import ClassicState
from ottla.coordinator.runtime.outcome import NOTHING, Outcome
from ottla.coordinator.runtime.waiting_answer import Reply
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.sync_group import SyncGroupRequest


class ClassicSyncing:
    """Created with the coordinator of a partition."""

    def __init__(self, rebalancing: ClassicRebalancing) -> None:
        self._rebalancing = rebalancing

    def sync(self, group: ClassicGroup, request: SyncGroupRequest, reply: Reply) -> Outcome:
        member = group.require_member(request.member_id, request.group_instance_id)
        if request.generation_id != group.generation:
            raise illegal_generation(group, request.generation_id)
        _check_protocol(group, request)
        if group.state is ClassicState.PREPARING_REBALANCE:
            raise KafkaError(
                ErrorCode.REBALANCE_IN_PROGRESS, f"group {group.id} rebalances; join again"
            )
        self._rebalancing.has_synced(group, member)
        if group.state is ClassicState.STABLE:
            return Outcome(response=synced(group, member))
        member.awaiting_sync = reply
        if member.id != group.leader:
            return NOTHING
        return self._store(group, request)

    def _store(self, group: ClassicGroup, request: SyncGroupRequest) -> Outcome:
        assignments = {each.member_id: each.assignment for each in request.assignments}
        generation = group.generation

        def stored(error: ErrorCode) -> Outcome:
            is_over = group.state is not ClassicState.COMPLETING_REBALANCE
            if is_over or group.generation != generation:
                return NOTHING
            if error:
                self._rebalancing.refuse_syncs(group, error)
                return self._rebalancing.rebalance(group, "its assignments could not be written")
            self._rebalancing.assign(group, assignments)
            return NOTHING

        record = group_record(group, assignments)
        return Outcome([record], is_applied=True, on_committed=stored)


def _check_protocol(group: ClassicGroup, request: SyncGroupRequest) -> None:
    requested = (request.protocol_type, request.protocol_name)
    for given, known in zip(requested, (group.protocol_type, group.protocol), strict=True):
        if given is not None and known and given != known:
            raise KafkaError(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
                f"group {group.id} uses {known!r}, not {given!r}",
            )
