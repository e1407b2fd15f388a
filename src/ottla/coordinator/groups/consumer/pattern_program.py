"""A regular expression as a program for a machine that is in several states at once (Thompson).

`Characters` reads one character and continues with the next instruction; `Split` continues at all
of its targets without reading; `Edge` continues only at the start or the end of the name. The name
matches if the machine is past the last instruction at the end of the name.
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

# The time for a character that was not seen in the same state before grows with the program. Topic
# names have at most 249 characters; `.{0,249}` is 498 instructions.
INSTRUCTIONS_MAX: Final = 1_000


@dataclass(slots=True)
class Split:
    targets: tuple[int, ...]


Instruction: TypeAlias = Characters | Edge | Split


def compile_program(text: str) -> list[Instruction]:
    """Raises `PatternError` for an invalid expression, and for one that is too large."""
    compiler = _Compiler()
    compiler.emit(parse(text))
    return compiler.program


class _Compiler:
    def __init__(self) -> None:
        self.program: list[Instruction] = []

    def emit(self, node: Node) -> None:
        match node:
            case Characters() | Edge():
                self._add(node)
            case Sequence(parts):
                for part in parts:
                    self.emit(part)
            case Branch(options):
                self._emit_branch(options)
            case Repeat(part, least, most):
                self._emit_times(part, least)
                if most is None:
                    self._emit_any_number(part)
                else:
                    self._emit_optional(part, most - least)

    def _add(self, instruction: Instruction) -> int:
        if len(self.program) >= INSTRUCTIONS_MAX:
            raise PatternError(
                f"with its repetitions written out, it has more than {INSTRUCTIONS_MAX} steps"
            )
        self.program.append(instruction)
        return len(self.program) - 1

    def _emit_times(self, part: Node, count: int) -> None:
        for _ in range(count):
            before = len(self.program)
            self.emit(part)
            if len(self.program) == before:
                # Nested repetitions of nothing would never reach the limit of instructions.
                return

    def _emit_branch(self, options: tuple[Node, ...]) -> None:
        choice = Split(())
        self._add(choice)
        ends = []
        starts = []
        for option in options:
            starts.append(len(self.program))
            self.emit(option)
            end = Split(())
            self._add(end)
            ends.append(end)
        choice.targets = tuple(starts)
        for end in ends:
            end.targets = (len(self.program),)

    def _emit_any_number(self, part: Node) -> None:
        loop = Split(())
        start = self._add(loop)
        self.emit(part)
        self._add(Split((start,)))
        loop.targets = (start + 1, len(self.program))

    def _emit_optional(self, part: Node, count: int) -> None:
        skips = []
        for _ in range(count):
            skip = Split(())
            skips.append((self._add(skip), skip))
            self.emit(part)
        for at, skip in skips:
            skip.targets = (at + 1, len(self.program))
