"""Resolves the regular expressions of groups to topics. One instance for all groups of a node.

An expression comes from a client, and its cost is its size times the names of all topics. So a
request matches for about a millisecond at most. The rest is matched in steps of that size with
pauses in between, round-robin over the expressions. A group that has to wait checks again at the
first heartbeat after that, as in Kafka, which matches in a thread.

Results are cached; the cache is bounded by the number of expressions and of matching names. A new
topic is matched with each expression once, regardless of the number of groups and members.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from typing import Final

from ottla.coordinator.groups.consumer.pattern import Matching, Pattern
from ottla.coordinator.groups.consumer.regular_expression import compiled
from ottla.runtime.clock import Clock

# In the work units of `Pattern`: about a millisecond.
WORK_AT_ONCE: Final = 10_000
# The event loop is free for at least as long as a step takes.
_PAUSE_SECONDS: Final = 0.002
_EXPRESSIONS_MAX: Final = 1_000
_NAMES_MAX: Final = 1_000_000
# Expressions that are being matched at the same time. Each has its own partial automaton.
WAITING_MAX: Final = 64
# The maximum size of the journal, as a multiple of the existing names.
_SLACK: Final = 2


class _Found:
    """The matching state and the result of one expression."""

    __slots__ = ("matching", "names", "pattern", "position", "regex", "waiting")

    def __init__(self, regex: str) -> None:
        self.regex = regex
        self.names: frozenset[str] = frozenset()
        # The position in the journal, and the unfinished matching of the next name.
        self.position = 0
        self.matching: Matching | None = None
        # Kept while it is being matched, with its automaton.
        self.pattern: Pattern | None = None
        # The callbacks for when it has matched all names, by waiter.
        self.waiting: dict[object, Callable[[], object]] = {}


class TopicRegexes:
    """Owned by the node's coordinators, and used from the event loop."""

    def __init__(self, clock: Clock, topics_now: Callable[[], Mapping[str, object]]) -> None:
        self._clock = clock
        self._topics_now = topics_now
        self._is_stale = True
        self._known: set[str] = set()
        # All names in the order in which they were first seen, including deleted topics.
        self._journal: list[str] = []
        self._found: OrderedDict[str, _Found] = OrderedDict()
        self._name_count = 0
        # The work that requests may still do before the next step; a request may need many
        # expressions.
        self._work_left = WORK_AT_ONCE
        self._queue: deque[_Found] = deque()
        # The waiters that did not fit into the queue.
        self._refused: dict[object, Callable[[], object]] = {}
        self._is_working = False

    def topics_changed(self) -> None:
        """The topics may have changed; they are checked when an expression is next requested."""
        self._is_stale = True

    def find(
        self, regex: str, *, waiter: object, when_found: Callable[[], object]
    ) -> frozenset[str] | None:
        """The topics whose whole names match. None if matching takes longer: then `when_found` is
        called later, once for each waiter, and the caller calls `find` again."""
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
        # Sorted, because the order of a set differs between processes.
        self._journal += sorted(created)
        self._known |= created
        if removed:
            self._known -= removed
            for found in self._found.values():
                self._take(found, found.names - removed)
        if len(self._journal) > _SLACK * len(self._known) + WAITING_MAX:
            self._forget_removed()

    def _forget_removed(self) -> None:
        """Rebuilds the journal. Expressions that have not reached its end start again."""
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
        """Matches for at most `work_max`, and returns the remaining work."""
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
        """Evicts the least recently used expressions, except those with waiters."""
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
