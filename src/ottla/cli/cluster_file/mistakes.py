"""Mistakes in a file, each with its place. They are collected, so that one run shows all."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final, NamedTuple

# No shorter list of names is worth a suggestion by similarity: it is printed instead.
_NAMES_LISTED_MAX: Final = 8


class Place(NamedTuple):
    file: str
    # The first line is 1; 0 stands for no line.
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Mistake(NamedTuple):
    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def unknown_name_text(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?` or the names that there are; empty if neither helps."""
    names = list(known)
    near = get_close_matches(name.lower(), names, n=1)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; write one of {', '.join(names)}" if len(names) <= _NAMES_LISTED_MAX else ""
