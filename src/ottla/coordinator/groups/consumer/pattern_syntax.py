"""Parses regular expressions into a tree: the part of RE2's syntax that topic names can need.

    branch   = sequence ("|" sequence)*
    sequence = (atom ("*" | "+" | "?" | "{" n "," m "}") "?"?)*
    atom     = character | "." | "[" set "]" | "(" branch ")" | "^" | "$" | "\\" escape

Greedy and lazy repetitions match the same names. Back references and lookaround are not regular,
and RE2 does not support them either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

PATTERN_CHARACTERS_MAX: Final = 1_000
# As in RE2. Nested repetitions multiply; the maximum size of the program limits them.
REPEAT_MAX: Final = 1_000
_UNBOUNDED: Final = None
_DEPTH_MAX: Final = 50

_DIGITS: Final = frozenset("0123456789")
_SPACES: Final = frozenset(" \t\n\r\f")
_WORDS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_CLASSES: Final = {"d": _DIGITS, "s": _SPACES, "w": _WORDS}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_SPECIAL: Final = frozenset("\\.+*?()|[]{}^$")


class PatternError(ValueError):
    """The message contains the reason and the position."""


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of a set, or one that is not in the set."""

    members: frozenset[str]
    ranges: tuple[tuple[str, str], ...] = ()
    is_negated: bool = False

    def has(self, character: str) -> bool:
        found = character in self.members or any(
            low <= character <= high for low, high in self.ranges
        )
        return found is not self.is_negated


@dataclass(frozen=True, slots=True)
class Edge:
    """The start or the end of the name."""

    is_end: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    part: Node
    least: int
    most: int | None


Node: TypeAlias = Characters | Edge | Sequence | Branch | Repeat


def parse(text: str) -> Node:
    if len(text) > PATTERN_CHARACTERS_MAX:
        raise PatternError(f"it has more than {PATTERN_CHARACTERS_MAX} characters")
    reader = _Reader(text)
    node = reader.branch(depth=0)
    if reader.peek() is not None:
        raise reader.error("a closing parenthesis has no opening one")
    return node


class _Reader:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def error(self, reason: str) -> PatternError:
        return PatternError(f"{reason} (at character {self._at + 1})")

    def peek(self) -> str | None:
        return self._text[self._at] if self._at < len(self._text) else None

    def _take(self) -> str:
        if self._at == len(self._text):
            raise self.error("it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _take_if(self, text: str) -> bool:
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def branch(self, *, depth: int) -> Node:
        if depth > _DEPTH_MAX:
            raise self.error("its parentheses are nested too deeply")
        options = [self._sequence(depth)]
        while self._take_if("|"):
            options.append(self._sequence(depth))
        return options[0] if len(options) == 1 else Branch(tuple(options))

    def _sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while (character := self.peek()) is not None and character not in "|)":
            parts.append(self._repeated(self._atom(depth)))
        return Sequence(tuple(parts))

    def _atom(self, depth: int) -> Node:
        character = self._take()
        match character:
            case "(":
                return self._group(depth)
            case "[":
                return self._set()
            case ".":
                return Characters(frozenset("\n"), is_negated=True)
            case "^" | "$":
                return Edge(is_end=character == "$")
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise self.error(f"there is nothing before {character!r} to repeat")
        return Characters(frozenset(character))

    def _group(self, depth: int) -> Node:
        if self._take_if("?") and not self._take_if(":"):
            named = self._take_if("P<") or self._take_if("<")
            if not named or self.peek() in ("=", "!"):
                raise self.error("groups of this kind are not supported")
            while self._take() != ">":
                pass
        node = self.branch(depth=depth + 1)
        if not self._take_if(")"):
            raise self.error("a parenthesis is not closed")
        return node

    def _escape(self) -> Node:
        character = self._take()
        if character in ("A", "z"):
            return Edge(is_end=character == "z")
        if character == "Q":
            quoted = self._text[self._at :].partition("\\E")
            self._at += len(quoted[0]) + len(quoted[1])
            return Sequence(tuple(Characters(frozenset(each)) for each in quoted[0]))
        found = self._class(character)
        return Characters(frozenset(self._literal(character))) if found is None else found

    def _class(self, character: str) -> Characters | None:
        members = _CLASSES.get(character.lower())
        return None if members is None else Characters(members, is_negated=character.isupper())

    def _literal(self, character: str) -> str:
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character in _SPECIAL or not character.isalnum():
            return character
        raise self.error(f"\\{character} is not supported")

    def _set(self) -> Characters:
        is_negated = self._take_if("^")
        members: set[str] = set()
        ranges: list[tuple[str, str]] = []
        is_first = True
        while is_first or self.peek() != "]":
            is_first = False
            low = self._set_member(members)
            if low is None:
                continue
            if self._text[self._at : self._at + 1] == "-" and self._text[self._at + 1 :][
                :1
            ] not in (
                "",
                "]",
            ):
                self._at += 1
                high = self._set_member(members)
                if high is None or high < low:
                    raise self.error("a range goes backwards")
                ranges.append((low, high))
            else:
                members.add(low)
        self._at += 1
        return Characters(frozenset(members), tuple(ranges), is_negated)

    def _set_member(self, members: set[str]) -> str | None:
        """Returns a character, or adds a class's characters to `members` and returns None."""
        character = self._take()
        if character != "\\":
            return character
        escaped = self._take()
        found = self._class(escaped)
        if found is None:
            return self._literal(escaped)
        if found.is_negated:
            raise self.error(f"\\{escaped} cannot be part of a set here")
        members |= found.members
        return None

    def _repeated(self, node: Node) -> Node:
        is_repeated = False
        while (character := self.peek()) is not None and character in "*+?{":
            limits = self._limits(self._take())
            if limits is None:
                # A brace that does not start a repetition is a literal.
                return Sequence((node, Characters(frozenset("{"))))
            if is_repeated:
                # RE2 rejects it too. Each one would add a level of recursion.
                raise self.error("a repetition is repeated; write it in parentheses")
            is_repeated = True
            self._take_if("?")
            node = Repeat(node, *limits)
        return node

    def _limits(self, character: str) -> tuple[int, int | None] | None:
        match character:
            case "*":
                return (0, _UNBOUNDED)
            case "+":
                return (1, _UNBOUNDED)
            case "?":
                return (0, 1)
        inside, closed, _ = self._text[self._at :].partition("}")
        low, comma, high = inside.partition(",")
        if not closed or not low.isdecimal() or not (high.isdecimal() or not high):
            return None
        self._at += len(inside) + 1
        least = int(low)
        most = least if not comma else (int(high) if high else None)
        if least > REPEAT_MAX or (most is not None and not least <= most <= REPEAT_MAX):
            raise self.error(f"it cannot be repeated {inside} times")
        return (least, most)
