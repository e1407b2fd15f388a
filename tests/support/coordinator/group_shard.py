"""A group coordinator without a node: requests in, answers out, time as the test says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ottla.configs import NodeConfig
from ottla.coordinator.groups.client import Client
from ottla.coordinator.groups.consumer.topic_regexes import TopicRegexes
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.coordinator import GroupCoordinator
from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.groups.settings import GroupSettings
from ottla.coordinator.offsets.offsets import Offsets
from ottla.coordinator.runtime.outcome import Outcome
from ottla.coordinator.runtime.replay import Replay
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.state_machine import Timers
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.simulation import SeededDice
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from ottla.wire.messages.leave_group import MemberIdentity
from ottla.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from tests.support.coordinator.coordinator_log import MemoryLog

GROUP = "group"
NAME = TopicPartition("__consumer_offsets", 0)
SESSION_MS = 10_000
REBALANCE_MS = 60_000


class Answer:
    """What a request was answered with, if it was."""

    def __init__(self) -> None:
        self.value: Any = None

    def __call__(self, value: Any) -> None:
        assert self.value is None, "answered twice"
        self.value = value

    @property
    def is_there(self) -> bool:
        return self.value is not None

    @property
    def error(self) -> ErrorCode:
        if isinstance(self.value, KafkaError):
            return self.value.code
        return ErrorCode(self.value.error_code)


class GroupShard:
    """Loaded when made, from what the log has."""

    def __init__(
        self,
        log: MemoryLog | None = None,
        *,
        configs: Mapping[str, str] | None = None,
        clock: SimulatedClock | None = None,
        image: MetadataImage | None = None,
    ) -> None:
        self.log = log or MemoryLog()
        self.clock = clock or SimulatedClock()
        self.image = image or MetadataImage()
        self.metadata_offset = 0
        self.regexes = TopicRegexes(self.clock, lambda: self.image.topics.by_name)
        defaults = {"group.initial.rebalance.delay.ms": "0"}
        self.config = NodeConfig.of({**defaults, **(configs or {})}, data_dir="/data")
        self.shard = Shard(NAME, self.log, self.clock, self._make_machine, write_timeout_ms=5_000)
        replay = Replay(NAME, self.shard.machine, start_offset=0)
        for batch in self.log.batches:
            list(replay.apply(batch))
        list(replay.finish())
        self.shard.finish_loading()

    def _make_machine(self, timers: Timers) -> GroupCoordinator:
        return GroupCoordinator(
            GroupContext(
                Groups(),
                Offsets(),
                timers,
                self.clock,
                SeededDice(len(self.log.batches)),
                self.regexes,
                lambda: GroupSettings(self.config.values),
                lambda: self.image,
                lambda: self.metadata_offset,
            )
        )

    @property
    def machine(self) -> GroupCoordinator:
        return self.shard.machine

    def failover(self) -> GroupShard:
        """The next coordinator of the same log."""
        self.shard.close()
        shard = GroupShard(self.log, clock=self.clock, image=self.image)
        shard.metadata_offset = self.metadata_offset
        return shard

    def submit(self, operation: Callable[[GroupCoordinator], Outcome]) -> Answer:
        answer = Answer()
        # A refusal is answered with the error itself.
        refuse: Any = lambda error: error  # noqa: E731
        self.shard.submit(operation, answer, refuse)
        return answer

    # ---- classic groups

    def join(
        self,
        member_id: str = "",
        *,
        instance_id: str | None = None,
        protocols: Mapping[str, bytes] | None = None,
        protocol_type: str = "consumer",
        version: int = 9,
        session_timeout_ms: int = SESSION_MS,
        group_id: str = GROUP,
    ) -> Answer:
        request = JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=member_id,
            group_instance_id=instance_id,
            protocol_type=protocol_type,
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=metadata)
                for name, metadata in (protocols or {"range": b""}).items()
            ],
        )
        answer = Answer()
        refuse: Any = lambda error: error  # noqa: E731
        client = Client("client", "/127.0.0.1", version)
        self.shard.submit(lambda groups: groups.join(client, request, answer), answer, refuse)
        return answer

    def new_member_id(self, **options: Any) -> str:
        refused: JoinGroupResponse = self.join(**options).value
        assert refused.error_code == ErrorCode.MEMBER_ID_REQUIRED
        return refused.member_id

    def sync(
        self,
        joined: JoinGroupResponse,
        assignments: Mapping[str, bytes] | None = None,
        *,
        instance_id: str | None = None,
    ) -> Answer:
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            group_instance_id=instance_id,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=assignment)
                for member_id, assignment in (assignments or {}).items()
            ],
        )
        answer = Answer()
        refuse: Any = lambda error: error  # noqa: E731
        self.shard.submit(lambda groups: groups.sync(request, answer), answer, refuse)
        return answer

    def heartbeat(
        self, member_id: str, generation: int, *, instance_id: str | None = None
    ) -> ErrorCode:
        request = HeartbeatRequest(
            group_id=GROUP,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=instance_id,
        )
        answer = self.submit(lambda groups: groups.heartbeat(request))
        assert isinstance(answer.value, HeartbeatResponse | KafkaError)
        return answer.error

    def leave(self, member_id: str = "", *, instance_id: str | None = None) -> Answer:
        identity = MemberIdentity(member_id=member_id, group_instance_id=instance_id)
        return self.submit(lambda groups: groups.leave(GROUP, [identity]))

    def stable(self, count: int = 1) -> list[JoinGroupResponse]:
        """Brings a new group of so many members to its first generation, each with its number as
        its assignment; the leader is the first."""
        joins = [self.join(self.new_member_id()) for _ in range(count)]
        self.clock.advance(0)
        joined: list[JoinGroupResponse] = [join.value for join in joins]
        assert all(response.error_code == 0 for response in joined)
        assignments = {each.member_id: b"%d" % index for index, each in enumerate(joined)}
        followers = [self.sync(each) for each in joined[1:]]
        synced = [self.sync(joined[0], assignments), *followers]
        answers: list[SyncGroupResponse] = [answer.value for answer in synced]
        assert [answer.assignment for answer in answers] == list(assignments.values())
        return joined

    @property
    def state(self) -> str:
        return self.machine.groups.require(GROUP).state_name
