"""Regular expressions of clients, matched against names without backtracking.

The machine of pattern_program.py is in a set of states at once. The set is an integer with one bit
for each instruction that waits for a character. Each set is a state of a deterministic automaton,
which is built lazily: a character that was seen in a state before costs one lookup. The size of the
automaton is bounded. An expression that exceeds it is simulated: a new set costs about ten
microseconds for the largest expression.

Matching is a generator that yields its work (in units of about a tenth of a microsecond), so that
the caller can pause it, even in the middle of a name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator
from typing import Final, TypeAlias

from ottla.coordinator.groups.consumer.pattern_program import Split, compile_program
from ottla.coordinator.groups.consumer.pattern_syntax import Characters, Edge, PatternError

__all__ = ["Matching", "Pattern", "PatternError"]

Matching: TypeAlias = Generator[int, None, bool]

# Each takes some hundred bytes. The largest expression keeps about a megabyte, mostly for
# `_followers`.
_TRANSITIONS_MAX: Final = 1_000
# Units of work for a name, and for each visited instruction.
_NAME: Final = 16
_WALK: Final = 4
_FIRST: Final = 0


class _State:
    """A set of positions, and the following state for each kind of character."""

    __slots__ = ("following", "positions")

    def __init__(self, positions: int) -> None:
        self.positions = positions
        self.following: dict[int, _State] = {}


class Pattern:
    """A compiled expression. The constructor raises `PatternError` for an invalid one."""

    def __init__(self, text: str) -> None:
        self._program = compile_program(text)
        # Repetitions share the repeated node, so that a character is compared once for each node.
        self._readers: dict[int, tuple[Characters, list[int]]] = {}
        for at, instruction in enumerate(self._program):
            if isinstance(instruction, Characters):
                self._readers.setdefault(id(instruction), (instruction, []))[1].append(at)
        # A character's kind is the set of instructions that accept it. Topic names can have 65
        # different characters, but most expressions distinguish only a few kinds.
        self._kinds: dict[str, int] = {}
        # The instructions after which the end is reached without reading another character.
        self._last = self._before_end()
        self._start = self._reading(self._walk(_FIRST, passes_start=True, passes_end=False))
        empty = self._walk(_FIRST, passes_start=True, passes_end=True)
        self._matches_nothing = len(self._program) in empty
        # For each group of four instructions: the following positions, by the hex digit of those
        # that have read a character.
        self._followers: list[dict[str, int]] = [{} for _ in range(len(self._program) // 4 + 1)]
        self._states: dict[int, _State] = {}
        self._transition_count = 0

    def matches(self, name: str) -> bool:
        """Whether the expression matches the whole name."""
        matching = self.matching(name)
        while True:
            try:
                next(matching)
            except StopIteration as stopped:
                found: bool = stopped.value
                return found

    def matching(self, name: str) -> Matching:
        """The same, in steps."""
        if not name:
            return self._matches_nothing
        state = self._state(self._start)
        for character in name[:-1]:
            kind = self._kinds.get(character)
            if kind is None:
                kind = self._kind(character)
                yield len(self._readers)
            following = state.following.get(kind)
            if following is None:
                positions = yield from self._follow(state.positions & kind)
                following = self._remember(state, kind, positions)
            if not following.positions:
                return False
            state = following
        yield _NAME + len(name)
        kind = self._kinds.get(name[-1])
        if kind is None:
            kind = self._kind(name[-1])
        return bool(state.positions & kind & self._last)

    # ---- the automaton

    def _state(self, positions: int) -> _State:
        state = self._states.get(positions)
        if state is None:
            state = self._states[positions] = _State(positions)
        return state

    def _remember(self, state: _State, kind: int, positions: int) -> _State:
        if self._transition_count >= _TRANSITIONS_MAX:
            for each in self._states.values():
                # Breaks reference cycles, which only the garbage collector would free.
                each.following.clear()
            self._states.clear()
            self._transition_count = 0
        self._transition_count += 1
        following = state.following[kind] = self._state(positions)
        return following

    def _kind(self, character: str) -> int:
        kind = 0
        for instruction, positions in self._readers.values():
            if instruction.has(character):
                for at in positions:
                    kind |= 1 << at
        self._kinds[character] = kind
        return kind

    # ---- the machine

    def _follow(self, matched: int) -> Generator[int, None, int]:
        """The positions after any of these instructions, looked up four instructions at a time."""
        following = 0
        for index, (digit, followers) in enumerate(
            zip(reversed(f"{matched:x}"), self._followers, strict=False)
        ):
            if digit == "0":
                continue
            found = followers.get(digit)
            if found is None:
                found = 0
                for bit in range(4):
                    if int(digit, 16) >> bit & 1:
                        found |= yield from self._behind(4 * index + bit)
                followers[digit] = found
            following |= found
        yield len(self._followers)
        return following

    def _behind(self, at: int) -> Generator[int, None, int]:
        reached = self._walk(at + 1, passes_start=False, passes_end=False)
        yield _WALK * len(reached)
        return self._reading(reached)

    def _reading(self, reached: set[int]) -> int:
        """The instructions of these that wait for a character."""
        found = 0
        for at in reached:
            if at < len(self._program) and isinstance(self._program[at], Characters):
                found |= 1 << at
        return found

    def _walk(self, at: int, *, passes_start: bool, passes_end: bool) -> set[int]:
        """The instructions reachable from one without reading a character."""
        reached: set[int] = set()
        waiting = [at]
        while waiting:
            at = waiting.pop()
            if at in reached:
                continue
            reached.add(at)
            instruction = self._program[at] if at < len(self._program) else None
            if isinstance(instruction, Split):
                waiting += instruction.targets
            elif isinstance(instruction, Edge) and (
                passes_end if instruction.is_end else passes_start
            ):
                waiting.append(at + 1)
        return reached

    def _before_end(self) -> int:
        """The instructions after which the end is reachable, found by walking back from the end."""
        sources: dict[int, list[int]] = defaultdict(list)
        for at, instruction in enumerate(self._program):
            if isinstance(instruction, Split):
                for target in instruction.targets:
                    sources[target].append(at)
            elif isinstance(instruction, Characters) or instruction.is_end:
                sources[at + 1].append(at)
        found, reached, waiting = 0, set[int](), [len(self._program)]
        while waiting:
            target = waiting.pop()
            for at in sources[target]:
                if isinstance(self._program[at], Characters):
                    found |= 1 << at
                elif at not in reached:
                    reached.add(at)
                    waiting.append(at)
        return found
