"""The calls of `ottla` in documents, and whether the program has such commands and options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup

from ottla.cli.main import make_app

_ENDS = {"|", "||", "&&", ";", "&", ">", ">>", "<", "(", ")"}
_PROGRAM = re.compile(r"^(?:\S*/)?ottla$")
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
# What stands for something else: NAME, N, ..., LIST.
_PLACEHOLDER = re.compile(r"^[A-Z][A-Z_-]*$|^\.\.\.$|^…$")


def program() -> TyperGroup:
    found = typer.main.get_command(make_app())
    assert isinstance(found, TyperGroup)
    return found


def leaves(group: TyperGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command that does something by itself."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name)


def options_of(command: Any) -> set[str]:
    """Its own, and those of the commands within it."""
    own = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    within = command.commands.values() if isinstance(command, TyperGroup) else ()
    return own.union({"--help", "-h"}, *(options_of(each) for each in within))


@dataclass(frozen=True, slots=True)
class Call:
    """`ottla` with the words after it."""

    words: tuple[str, ...]

    def command(self, group: TyperGroup) -> tuple[tuple[str, ...], Any]:
        """The longest path of commands that the words name. Raises KeyError for one that is not
        there."""
        path: tuple[str, ...] = ()
        found: Any = group
        for word in self.words:
            if not isinstance(found, TyperGroup) or word.startswith("-"):
                break
            if _PLACEHOLDER.match(word):
                break
            found = found.commands[word]
            path = (*path, word)
        return path, found

    @property
    def options(self) -> list[str]:
        return [word.partition("=")[0] for word in self.words if re.match(r"--?[A-Za-z]", word)]


def calls(text: str) -> Iterator[Call]:
    """In a command line, which may call several programs."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.commenters = "#"
    lexer.whitespace_split = True
    words: list[str] | None = None
    try:
        tokens = list(lexer)
    except ValueError:
        tokens = text.split()
    for token in [*tokens, ";"]:
        if token in _ENDS:
            if words is not None:
                yield Call(tuple(words))
            words = None
        elif words is not None:
            words.append(token)
        elif _PROGRAM.match(token):
            words = []


def spans(text: str) -> Iterator[str]:
    """What is `code` within prose; blocks and comments are left out."""
    prose = re.sub(r"^```.*?^```|<!--.*?-->", "", text, flags=re.DOTALL | re.MULTILINE)
    for found in _SPAN.finditer(prose):
        yield found[1].replace("\n", " ")
