"""Whatever happens to a group of the consumer protocol, no partition has two owners, and in the
end each has one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from tests.support.coordinator.consumer_members import Member, add_topic, all_of
from tests.support.coordinator.group_shard import GROUP, GroupShard

NAMES = "abcd"
PARTITIONS = 5
LETS_GO = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH)

steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["join", "leave", "crash"]), st.sampled_from(NAMES)),
        st.tuples(st.sampled_from(["beat", "beat", "lost answer"]), st.sampled_from(NAMES)),
        st.tuples(st.sampled_from(["failover", "wait", "grow"]), st.just("")),
    ),
    max_size=40,
)


class History:
    def __init__(self) -> None:
        image = MetadataImage()
        self.partitions = PARTITIONS
        add_topic(image, "t", self.partitions)
        self.shard = GroupShard(image=image)
        self.members: dict[str, Member] = {}
        self._born = 0

    def step(self, what: str, name: str) -> None:
        member = self.members.get(name)
        if what == "failover":
            self.shard = self.shard.failover()
            for each in self.members.values():
                each.shard = self.shard
        elif what == "wait":
            self.shard.clock.advance(20)
        elif what == "grow":
            self.partitions += 1
            add_topic(self.shard.image, "t", self.partitions)
            self.shard.shard.perform(lambda groups: groups.topics_changed())
        elif what == "join" and member is None:
            self._born += 1
            self.members[name] = Member(self.shard, f"{name}{self._born}").join()
        elif member is not None:
            self._act(what, name, member)

    def _act(self, what: str, name: str, member: Member) -> None:
        if what in ("leave", "crash"):
            if what == "leave":
                member.leave()
            del self.members[name]
        elif what == "lost answer":
            before = (member.epoch, set(member.owned))
            if self._beats(member):
                member.epoch, member.owned = before
        else:
            self._beats(member)

    def _beats(self, member: Member) -> bool:
        """A member that gets UNKNOWN_MEMBER_ID or FENCED revokes everything and joins again."""
        if member.try_beat() in LETS_GO:
            member.join()
            return False
        return True

    def settle(self) -> None:
        for _ in range(12):
            self.shard.clock.advance(4)
            for name in list(self.members):
                self.step("beat", name)

    def check(self) -> None:
        """Of members whose session is not over: the others will be fenced."""
        group = self.shard.machine.groups.get(GROUP)
        known = group.members if isinstance(group, ConsumerGroup) else {}
        members = [member for member in self.members.values() if member.id in known]
        owned = [each for member in members for each in member.owned]
        assert len(owned) == len(set(owned)), "a partition has two owners"


@given(steps)
@settings(max_examples=60, deadline=None)
def test_no_partition_ever_has_two_owners_and_in_the_end_each_has_one(
    history: list[tuple[str, str]],
) -> None:
    group = History()
    for what, name in history:
        group.step(what, name)
        group.check()
    group.step("join", "a")
    group.settle()
    owned = sorted(each for member in group.members.values() for each in member.owned)
    assert owned == all_of("t", group.partitions)
    sizes = [len(member.owned) for member in group.members.values()]
    assert max(sizes) - min(sizes) <= 1
