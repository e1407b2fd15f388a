"""Which topics regular expressions stand for: found in steps, and once for each topic."""

from __future__ import annotations

import time
from collections.abc import Set as AbstractSet
from typing import Any

import pytest

from ottla.coordinator.groups.consumer import topic_regexes
from ottla.coordinator.groups.consumer.pattern import Matching, Pattern
from ottla.coordinator.groups.consumer.topic_regexes import (
    WAITING_MAX,
    WORK_AT_ONCE,
    TopicRegexes,
)
from ottla.metadata import MetadataImage
from ottla.simulation import SeededDice
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.coordinator.consumer_members import Member, add_topic, all_of
from tests.support.coordinator.group_shard import GroupShard

# Its automaton has more states than anything could keep, as names that are nothing but a and b say.
OVERFLOWING = "[ab]*a[ab]{200}"
ATTACKS = ("(.*a){200}b", OVERFLOWING, "(.*a){249}.*", "((a?){20}){20}b", "(|a|b){150}")
_DICE = SeededDice(1)
LONG_NAMES = ["".join(_DICE.choice("ab") for _ in range(249)) for _ in range(300)]


class Topics:
    """Expressions, and the topics that a test says there are."""

    def __init__(self, *names: str) -> None:
        self.clock = SimulatedClock()
        self.names = dict.fromkeys(names, 0)
        self.regexes = TopicRegexes(self.clock, lambda: self.names)
        self.called: list[object] = []

    def find(self, regex: str, waiter: object = "group") -> AbstractSet[str] | None:
        return self.regexes.find(
            regex, waiter=waiter, when_found=lambda: self.called.append(waiter)
        )

    def create(self, *names: str) -> None:
        self.names |= dict.fromkeys(names, 0)
        self.regexes.topics_changed()

    def remove(self, name: str) -> None:
        del self.names[name]
        self.regexes.topics_changed()


@pytest.fixture
def matched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that any expression was compared with."""
    names: list[str] = []
    original = Pattern.matching

    def matching(self: Pattern, name: str) -> Matching:
        names.append(name)
        return original(self, name)

    monkeypatch.setattr(Pattern, "matching", matching)
    return names


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float]]:
    """The work, and the seconds, of each stretch of time in which the loop was held."""
    found: list[tuple[int, float]] = []
    work = 0
    original, match = Pattern.matching, TopicRegexes._match

    def matching(self: Pattern, name: str) -> Matching:
        nonlocal work
        steps = original(self, name)
        while True:
            try:
                step = next(steps)
            except StopIteration as finished:
                return bool(finished.value)
            work += step
            yield step

    def measured(self: TopicRegexes, entry: Any, work_max: int) -> int:
        nonlocal work
        work, started = 0, time.process_time()
        left = match(self, entry, work_max)
        found.append((work, time.process_time() - started))
        return left

    monkeypatch.setattr(Pattern, "matching", matching)
    monkeypatch.setattr(TopicRegexes, "_match", measured)
    return found


@pytest.mark.parametrize("regex", ATTACKS)
def test_no_expression_holds_the_loop(regex: str, slices: list[tuple[int, float]]) -> None:
    topics = Topics(*LONG_NAMES)
    found = topics.find(regex)
    if found is None:
        topics.clock.advance(60)
        assert topics.called == ["group"]
        found = topics.find(regex)
    assert found is not None
    assert found < set(LONG_NAMES)
    assert max(work for work, _ in slices) < 2 * WORK_AT_ONCE
    # A character costs some hundred steps where the automaton overflows.
    assert sum(work for work, _ in slices) < 100 * sum(len(name) for name in LONG_NAMES)
    seconds = sorted(seconds for _, seconds in slices)
    assert seconds[len(seconds) // 2] < 0.05, "about a millisecond"


def test_few_topics_are_found_at_once() -> None:
    assert Topics("a-1", "a-2", "b").find("a-.*") == {"a-1", "a-2"}


def test_another_group_or_member_costs_nothing(matched: list[str]) -> None:
    topics = Topics("a-1", "b")
    assert topics.find("a.*", "one") == topics.find("a.*", "two") == {"a-1"}
    assert matched == ["a-1", "b"]


def test_a_new_topic_is_matched_once_for_each_expression(matched: list[str]) -> None:
    topics = Topics("a-1", "b")
    topics.find("a.*")
    topics.find("b.*")
    matched.clear()
    for number in range(2, 5):
        topics.create(f"a-{number}")
        assert topics.find("a.*") == {f"a-{each}" for each in range(1, number + 1)}
        assert topics.find("b.*") == {"b"}
        assert topics.find("a.*") is topics.find("a.*")
    assert matched == ["a-2", "a-2", "a-3", "a-3", "a-4", "a-4"]


def test_a_topic_that_is_gone_is_not_found_until_it_is_there_again() -> None:
    topics = Topics("a-1", "a-2")
    assert topics.find("a.*") == {"a-1", "a-2"}
    topics.remove("a-1")
    assert topics.find("a.*") == {"a-2"}
    topics.create("a-1")
    assert topics.find("a.*") == {"a-1", "a-2"}


def test_topics_that_come_and_go_leave_nothing_behind() -> None:
    topics = Topics("a-0")
    for number in range(1_000):
        topics.create(f"a-{number + 1}")
        topics.remove(f"a-{number}")
        topics.clock.advance(0.002)
        assert topics.find("a.*") == {f"a-{number + 1}"}
    assert len(topics.regexes._journal) < 100


def test_topics_that_go_while_an_expression_is_matched_are_not_found() -> None:
    topics = Topics(*LONG_NAMES[:50])
    assert topics.find(OVERFLOWING) is None
    for name in LONG_NAMES[1:50]:
        topics.remove(name)
    topics.clock.advance(60)
    found = topics.find(OVERFLOWING)
    assert found is not None
    assert found <= {LONG_NAMES[0]}


def test_expressions_that_take_long_take_turns() -> None:
    topics = Topics(*LONG_NAMES[:50])
    assert topics.find(OVERFLOWING, "slow") is None
    assert topics.find("[ab]*a[ab]{20}", "quick") is None
    topics.clock.advance(60)
    assert topics.called == ["quick", "slow"]


def test_many_expressions_of_one_request_are_not_matched_at_once(
    slices: list[tuple[int, float]],
) -> None:
    topics = Topics(*LONG_NAMES[:20])
    regexes = [f"[ab]*a[ab]{{{100 + number}}}" for number in range(20)]
    assert None in [topics.find(regex, regex) for regex in regexes]
    assert sum(work for work, _ in slices) < 2 * WORK_AT_ONCE
    topics.clock.advance(60)
    assert set(topics.called) <= set(regexes)
    for regex in topics.called:
        assert topics.find(str(regex)) is not None


def test_each_waiter_is_called_once() -> None:
    topics = Topics(*LONG_NAMES[:50])
    for waiter in ("one", "two", "one"):
        assert topics.find(OVERFLOWING, waiter) is None
    topics.clock.advance(60)
    assert sorted(map(str, topics.called)) == ["one", "two"]


def test_more_expressions_than_may_wait_are_retried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(topic_regexes, "WORK_AT_ONCE", 100)
    topics = Topics(*(f"topic-{number}" for number in range(10)))
    regexes = {f"t.*{number}" for number in range(WAITING_MAX + 5)}
    rounds = 0
    while waiting := [regex for regex in sorted(regexes) if topics.find(regex, regex) is None]:
        rounds += 1
        topics.clock.advance(60)
        assert set(waiting) <= set(topics.called), "each is called, also if there was no room"
        topics.called.clear()
    assert rounds >= 2


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch, matched: list[str]) -> None:
    monkeypatch.setattr(topic_regexes, "_EXPRESSIONS_MAX", 3)
    monkeypatch.setattr(topic_regexes, "_NAMES_MAX", 5)
    topics = Topics("a", "b")
    for regex in (".", "a|b", "[ab]", "[a-b]"):
        assert topics.find(regex) == {"a", "b"}
    assert list(topics.regexes._found) == ["[ab]", "[a-b]"]
    assert topics.regexes._name_count == 4
    matched.clear()
    assert topics.find(".") == {"a", "b"}
    assert matched == ["a", "b"]


def test_a_member_is_assigned_what_takes_long_to_find(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_regexes, "WORK_AT_ONCE", 20)
    image = MetadataImage()
    for number in range(20):
        add_topic(image, f"u-{number}", 1)
    add_topic(image, "t", 2)
    shard = GroupShard(image=image)
    member = Member(shard, "a", subscribed_topic_names=None, subscribed_topic_regex="u?t")
    assert member.join().owned == set()
    assert member.beat().owned == set()
    shard.clock.advance(1)
    assert sorted(member.beat().owned) == all_of("t", 2)


def test_many_topics_are_written_every_ten_seconds_at_most() -> None:
    image = MetadataImage()
    for number in range(1_100):
        add_topic(image, f"t-{number}", 1)
    shard = GroupShard(image=image)
    member = Member(shard, "a", subscribed_topic_names=None, subscribed_topic_regex="t-.*").join()
    for _ in range(20):
        if len(member.owned) == 1_100:
            break
        shard.clock.advance(0.1)
        member.beat()
    for number in range(3):
        add_topic(image, f"t-new-{number}", 1)
        shard.shard.perform(lambda groups: groups.topics_changed())
        shard.clock.advance(1)
        assert len(member.beat().owned) == 1_100
    shard.clock.advance(10)
    assert len(member.beat().owned) == 1_103
