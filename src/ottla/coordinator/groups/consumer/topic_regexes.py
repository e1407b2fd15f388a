"""Which topics the regular expressions of groups stand for. One for all groups of a node.

An expression comes from a client, and its cost is its size times the names of all topics. So a
request matches for about a millisecond at most; what is left is matched in steps of that size with
pauses in between, one expression after the other in turn. A group that has to wait looks again
with the first heartbeat after that, as in Kafka, which matches on a thread.

What was found stays in a cache, bounded by expressions and by the names that they hold. A new topic
is matched with each expression once, whatever number of groups and members has it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from typing import Final

from ottla.coordinator.groups.consumer.pattern import Matching, Pattern
from ottla.coordinator.groups.consumer.regular_expression import compiled
from ottla.runtime.clock import Clock

# Of work as `Pattern` counts it: about a millisecond.
WORK_AT_ONCE: Final = 10_000
# The loop is free for as long as a step takes, at least.
_PAUSE_SECONDS: Final = 0.002
_EXPRESSIONS_MAX: Final = 1_000
_NAMES_MAX: Final = 1_000_000
# Expressions that wait at the same time. Each has half-built tables of its own.
WAITING_MAX: Final = 64
# The journal may have so many times the names that there are.
_SLACK: Final = 2


class _Found:
    """What is known of one expression."""

    __slots__ = ("matching", "names", "pattern", "position", "regex", "waiting")

    def __init__(self, regex: str) -> None:
        self.regex = regex
        self.names: frozenset[str] = frozenset()
        # How far in the journal it is, and what of the next name is under way.
        self.position = 0
        self.matching: Matching | None = None
        # Kept while it is matched, with what it has learned of names.
        self.pattern: Pattern | None = None
        # Called once it is at the end, by what they are for.
        self.waiting: dict[object, Callable[[], object]] = {}


class TopicRegexes:
    """Owned by the node's coordinators, and used from its loop."""

    def __init__(self, clock: Clock, topics_now: Callable[[], Mapping[str, object]]) -> None:
        self._clock = clock
        self._topics_now = topics_now
        self._is_stale = True
        self._known: set[str] = set()
        # All names in the order in which they were first seen, with those that are gone.
        self._journal: list[str] = []
        self._found: OrderedDict[str, _Found] = OrderedDict()
        self._name_count = 0
        # What requests may still match before the next step: one may ask for many expressions.
        self._work_left = WORK_AT_ONCE
        self._queue: deque[_Found] = deque()
        # Those for which the queue had no room.
        self._refused: dict[object, Callable[[], object]] = {}
        self._is_working = False

    def topics_changed(self) -> None:
        """There may be other topics; they are looked at when an expression is asked for."""
        self._is_stale = True

    def find(
        self, regex: str, *, waiter: object, when_found: Callable[[], object]
    ) -> frozenset[str] | None:
        """The names of topics that the expression matches as a whole. None if that takes longer:
        then `when_found` is called later, once for each waiter, and the caller asks again."""
        self._look()
        found = self._found.get(regex)
        if found is None:
            found = self._found[regex] = _Found(regex)
        self._found.move_to_end(regex)
        is_waiting = bool(found.waiting)
        if not is_waiting and self._match_now(found):
            self._evict()
            return found.names
        if not is_waiting and len(self._queue) >= WAITING_MAX:
            self._refused[waiter] = when_found
            return None
        found.waiting[waiter] = when_found
        if not is_waiting:
            self._queue.append(found)
            self._work_later()
        return None

    # ---- topics

    def _look(self) -> None:
        if not self._is_stale:
            return
        self._is_stale = False
        topics = self._topics_now().keys()
        created, removed = topics - self._known, self._known - topics
        # Sorted, as the order of sets differs from process to process.
        self._journal += sorted(created)
        self._known |= created
        if removed:
            self._known -= removed
            for found in self._found.values():
                self._take(found, found.names - removed)
        if len(self._journal) > _SLACK * len(self._known) + WAITING_MAX:
            self._forget_removed()

    def _forget_removed(self) -> None:
        """A new journal. Expressions that are not at the end of the old one begin again."""
        end, self._journal = len(self._journal), sorted(self._known)
        for found in self._found.values():
            found.position = len(self._journal) if found.position == end else 0
            found.matching = None

    # ---- matching

    def _match_now(self, found: _Found) -> bool:
        if found.position == len(self._journal):
            return True
        self._work_left = self._match(found, self._work_left)
        self._work_later()
        return found.position == len(self._journal)

    def _match(self, found: _Found, work_max: int) -> int:
        """Goes on for so much work, and returns how much of it is left."""
        work, names = 0, list[str]()
        journal = self._journal
        while found.position < len(journal) and work < work_max:
            name = journal[found.position]
            pattern = found.pattern = found.pattern or compiled(found.regex)
            matching = found.matching or pattern.matching(name)
            found.matching = None
            try:
                while work < work_max:
                    work += next(matching)
                found.matching = matching
            except StopIteration as finished:
                found.position += 1
                if finished.value and name in self._known:
                    names.append(name)
        if names:
            self._take(found, found.names.union(names))
        if found.position == len(journal):
            found.pattern = None
        return max(work_max - work, 0)

    def _take(self, found: _Found, names: frozenset[str]) -> None:
        self._name_count += len(names) - len(found.names)
        found.names = names

    def _evict(self) -> None:
        """Forgets what was not asked for the longest, but for those that are waited for."""
        if len(self._found) <= _EXPRESSIONS_MAX and self._name_count <= _NAMES_MAX:
            return
        for regex, found in list(self._found.items())[:-1]:
            if len(self._found) <= _EXPRESSIONS_MAX and self._name_count <= _NAMES_MAX:
                return
            if not found.waiting:
                self._take(found, frozenset())
                del self._found[regex]

    # ---- steps

    def _work_later(self) -> None:
        if not self._is_working and (self._queue or self._work_left < WORK_AT_ONCE):
            self._is_working = True
            self._clock.call_later(_PAUSE_SECONDS, self._work)

    def _work(self) -> None:
        self._is_working = False
        self._work_left = WORK_AT_ONCE
        if not self._queue:
            return
        self._look()
        found = self._queue.popleft()
        self._match(found, WORK_AT_ONCE)
        if found.position == len(self._journal):
            waiting, found.waiting = found.waiting | self._refused, {}
            self._refused = {}
            for when_found in waiting.values():
                when_found()
        else:
            self._queue.append(found)
        self._work_later()
