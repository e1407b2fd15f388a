"""A classic group: its members, its generation, its state (states.py has the diagram).

Invariants: the leader is a member, if there are any; a JoinGroup waits for the next generation only
in PreparingRebalance; each static instance id belongs to exactly one member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ottla.coordinator.groups.classic.member import ClassicMember
from ottla.coordinator.groups.classic.states import PREVIOUS_STATES, ClassicState
from ottla.coordinator.groups.classic.subscriptions import subscribed_topics
from ottla.coordinator.groups.group import Group, GroupType
from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.coordinator.runtime.waiting_answer import Reply
from ottla.model import ErrorCode, KafkaError
from ottla.wire.stored.groups import GroupMetadataKey

CONSUMER_PROTOCOL_TYPE = "consumer"


class ClassicGroup(Group):
    """Created by the first JoinGroup, by an offset commit, or by replaying the log."""

    __slots__ = (
        "_protocol_type",
        "_supported",
        "generation",
        "initial_rebalance_ends_s",
        "leader",
        "members",
        "pending_members",
        "pending_sync",
        "previous_state",
        "protocol",
        "state",
        "state_timestamp",
        "static_members",
        "topics",
    )

    type = GroupType.CLASSIC

    def __init__(
        self, group_id: str, *, now_ms: int | None, state: ClassicState = ClassicState.EMPTY
    ) -> None:
        super().__init__(group_id)
        self.state = state
        self.previous_state = ClassicState.DEAD
        self.state_timestamp = now_ms
        self.generation = 0
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        # Member ids returned with MEMBER_ID_REQUIRED, not yet used to join (KIP-394).
        self.pending_members: set[str] = set()
        # Members of this generation that have not sent SyncGroup yet.
        self.pending_sync: set[str] = set()
        self.static_members: dict[str, str] = {}
        # The latest monotonic time at which the initial rebalance ends.
        self.initial_rebalance_ends_s = 0.0
        # None if the members' subscriptions cannot be decoded.
        self.topics: frozenset[str] | None = None
        self._protocol_type: str | None = None
        self._supported: Counter[str] = Counter()

    # ---- state

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicState.EMPTY

    @property
    def protocol_type(self) -> str:
        return self._protocol_type or ""

    @protocol_type.setter
    def protocol_type(self, protocol_type: str | None) -> None:
        self._protocol_type = protocol_type or None

    @property
    def can_rebalance(self) -> bool:
        return self.state in PREVIOUS_STATES[ClassicState.PREPARING_REBALANCE]

    def become(self, state: ClassicState, *, now_ms: int) -> None:
        assert self.state in PREVIOUS_STATES[state], f"{self.id}: {self.state} to {state}"
        self.previous_state, self.state = self.state, state
        self.state_timestamp = now_ms

    def begin_generation(self, *, now_ms: int) -> None:
        """Starts the next generation with the current members, or makes the group empty."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.note_topics()
        next_state = ClassicState.COMPLETING_REBALANCE if self.members else ClassicState.EMPTY
        self.become(next_state, now_ms=now_ms)
        self.pending_sync.clear()

    # ---- members

    @property
    def has_all_joined(self) -> bool:
        return not self.pending_members and all(
            member.awaiting_join is not None for member in self.members.values()
        )

    @property
    def awaiting_join_count(self) -> int:
        return sum(member.awaiting_join is not None for member in self.members.values())

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def add(self, member: ClassicMember) -> None:
        if member.instance_id is not None:
            assert member.instance_id not in self.static_members
            self.static_members[member.instance_id] = member.id
        if not self.members:
            self.protocol_type = member.protocol_type
        if self.leader is None:
            self.leader = member.id
        self.members[member.id] = member
        self._supported.update(member.protocols.keys())
        self.pending_members.discard(member.id)

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is not None:
            self._supported.subtract(member.protocols.keys())
            if member.instance_id is not None:
                self.static_members.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.pending_members.discard(member_id)
        self.pending_sync.discard(member_id)

    def update(
        self,
        member: ClassicMember,
        protocols: dict[str, bytes],
        *,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        awaiting_join: Reply | None,
    ) -> None:
        self._supported.subtract(member.protocols.keys())
        member.protocols = protocols
        self._supported.update(protocols.keys())
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms
        member.awaiting_join = awaiting_join

    def replace_static(self, old: ClassicMember, new_id: str) -> ClassicMember:
        """Gives a static instance a new member id; the old id is no longer a member."""
        assert old.instance_id is not None
        del self.members[old.id]
        new = ClassicMember(
            new_id,
            old.instance_id,
            old.client_id,
            old.client_host,
            old.rebalance_timeout_ms,
            old.session_timeout_ms,
            old.protocol_type,
            old.protocols,
            old.assignment,
        )
        self.members[new_id] = new
        self.static_members[old.instance_id] = new_id
        if self.leader == old.id:
            self.leader = new_id
        return new

    def elect_leader_that_joined(self) -> bool:
        """Keeps the leader if it has rejoined, else elects a member that has. False if none has."""
        if self.leader is None:
            return False
        if self.members[self.leader].awaiting_join is not None:
            return True
        joined = (each.id for each in self.members.values() if each.awaiting_join is not None)
        elected = next(joined, None)
        self.leader = elected or self.leader
        return elected is not None

    def require_member(self, member_id: str, instance_id: str | None) -> ClassicMember:
        if instance_id is not None:
            current = self.static_members.get(instance_id)
            if current is None:
                raise _unknown(member_id, self.id)
            if current != member_id:
                raise KafkaError(
                    ErrorCode.FENCED_INSTANCE_ID,
                    f"instance {instance_id} of group {self.id} is member {current} now",
                )
        member = self.members.get(member_id)
        if member is None:
            raise _unknown(member_id, self.id)
        return member

    # ---- protocols

    def supports(self, protocol_type: str, protocols: Sequence[str]) -> bool:
        """Whether a member with these protocols has one in common with all members."""
        if self.state is ClassicState.EMPTY:
            return bool(protocol_type and protocols)
        count = len(self.members)
        return protocol_type == self.protocol_type and any(
            self._supported[name] == count for name in protocols
        )

    def select_protocol(self) -> str:
        """The protocol with most votes among those that all members support."""
        count = len(self.members)
        candidates = [name for name, having in self._supported.items() if having == count]
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return max(votes.items(), key=lambda item: item[1])[0]

    def note_topics(self) -> None:
        self.topics = None
        if self.protocol_type == CONSUMER_PROTOCOL_TYPE:
            protocol = self.protocol
            metadata = (
                []
                if protocol is None
                else [member.metadata_for(protocol) for member in self.members.values()]
            )
            if protocol is not None or not self.members:
                self.topics = subscribed_topics(metadata)

    # ---- offsets

    def is_subscribed_to(self, topic: str) -> bool:
        if self.topics is None:
            return self.protocol_type == CONSUMER_PROTOCOL_TYPE
        return topic in self.topics

    def require_may_commit(
        self,
        *,
        member_id: str,
        instance_id: str | None,
        epoch: int,
        version: int | None,
    ) -> None:
        if epoch < 0 and self.is_empty:
            # An admin client, or a consumer without membership.
            return
        if epoch >= 0 or member_id or instance_id is not None:
            self.require_member(member_id, instance_id)
            if epoch != self.generation:
                raise illegal_generation(self, epoch)
        elif version is not None:
            raise _unknown(member_id, self.id)
        # A transactional commit is allowed during a rebalance: the next generation fences its
        # producer.
        if version is not None and self.state is ClassicState.COMPLETING_REBALANCE:
            raise KafkaError(
                ErrorCode.REBALANCE_IN_PROGRESS,
                f"group {self.id} is rebalancing; commit again later",
            )

    def require_may_fetch(self, *, member_id: str | None, epoch: int) -> None:
        """Always allowed."""

    def require_may_delete_offsets(self) -> None:
        if not self.is_empty and self.protocol_type != CONSUMER_PROTOCOL_TYPE:
            self.require_may_delete()

    def offset_idle_since(self, committed: CommittedOffset) -> int | None:
        if self._protocol_type is None:
            return committed.commit_timestamp
        if self.is_empty:
            since = self.state_timestamp
            return committed.commit_timestamp if since is None else since
        if self.state is ClassicState.STABLE and self.topics is not None:
            return committed.commit_timestamp
        return None

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        return [CoordinatorRecord(GroupMetadataKey(group=self.id), None)]


def illegal_generation(group: ClassicGroup, generation: int) -> KafkaError:
    return KafkaError(
        ErrorCode.ILLEGAL_GENERATION,
        f"group {group.id} has generation {group.generation}, not {generation}; join again",
    )


def _unknown(member_id: str, group_id: str) -> KafkaError:
    return KafkaError(
        ErrorCode.UNKNOWN_MEMBER_ID, f"group {group_id} has no member {member_id!r}; join again"
    )
