"""A regular expression as a machine that is in many states at once, so that it never goes back.

Thompson's construction: the tree becomes instructions; a name is read once, and for each of its
characters all instructions that could be next are kept. At most all of them, which bounds the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from ottla.coordinator.groups.consumer.pattern_syntax import (
    Branch,
    Characters,
    Edge,
    Node,
    PatternError,
    Repeat,
    Sequence,
    parse,
)

__all__ = ["Pattern", "PatternError"]

_INSTRUCTIONS_MAX: Final = 5_000


@dataclass(slots=True)
class _Split:
    """Goes on at any of these."""

    targets: tuple[int, ...]


_Instruction: TypeAlias = Characters | Edge | _Split


class Pattern:
    """Immutable. Raises `PatternError` when made of something that is no expression."""

    def __init__(self, text: str) -> None:
        self._program: list[_Instruction] = []
        self._emit(parse(text))

    def matches(self, name: str) -> bool:
        """Whether all of the name is what the expression stands for."""
        current = self._closure([0], is_start=True, is_end=not name)
        for index, character in enumerate(name, 1):
            following = []
            for at in current:
                instruction = self._program[at] if at < len(self._program) else None
                if isinstance(instruction, Characters) and instruction.has(character):
                    following.append(at + 1)
            if not following:
                return False
            current = self._closure(following, is_start=False, is_end=index == len(name))
        return len(self._program) in current

    def _closure(self, starts: list[int], *, is_start: bool, is_end: bool) -> set[int]:
        """Where it can be without reading another character."""
        reached: set[int] = set()
        waiting = starts
        while waiting:
            at = waiting.pop()
            if at in reached:
                continue
            reached.add(at)
            instruction = self._program[at] if at < len(self._program) else None
            if isinstance(instruction, _Split):
                waiting += instruction.targets
            elif isinstance(instruction, Edge) and (is_end if instruction.is_end else is_start):
                waiting.append(at + 1)
        return reached

    def _add(self, instruction: _Instruction) -> int:
        if len(self._program) >= _INSTRUCTIONS_MAX:
            raise PatternError("its repetitions make it too large")
        self._program.append(instruction)
        return len(self._program) - 1

    def _emit(self, node: Node) -> None:
        match node:
            case Characters() | Edge():
                self._add(node)
            case Sequence(parts):
                for part in parts:
                    self._emit(part)
            case Branch(options):
                self._emit_branch(options)
            case Repeat(part, least, most):
                for _ in range(least):
                    self._emit(part)
                if most is None:
                    self._emit_any_number(part)
                else:
                    self._emit_optional(part, most - least)

    def _emit_branch(self, options: tuple[Node, ...]) -> None:
        choice = _Split(())
        self._add(choice)
        ends = []
        starts = []
        for option in options:
            starts.append(len(self._program))
            self._emit(option)
            end = _Split(())
            self._add(end)
            ends.append(end)
        choice.targets = tuple(starts)
        for end in ends:
            end.targets = (len(self._program),)

    def _emit_any_number(self, part: Node) -> None:
        loop = _Split(())
        start = self._add(loop)
        self._emit(part)
        self._add(_Split((start,)))
        loop.targets = (start + 1, len(self._program))

    def _emit_optional(self, part: Node, count: int) -> None:
        skips = []
        for _ in range(count):
            skip = _Split(())
            skips.append((self._add(skip), skip))
            self._emit(part)
        for at, skip in skips:
            skip.targets = (at + 1, len(self._program))
