"""Kafka's text checkpoints: a version, the number of entries, and one line per entry.

0
2
orders 0 1043
orders 1 998
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final, Generic, NamedTuple, TypeVar

from ottla.runtime.disk import Disk
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.durable_file import read_file, replace_file

VERSION: Final = 0

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)

Entry = TypeVar("Entry")


class CheckpointFile(NamedTuple, Generic[Entry]):
    """A list of entries in one file. Keeps no file open; a missing file is an empty list."""

    disk: Disk
    path: str
    format_entry: Callable[[Entry], str]
    # Receives the words of a line; raises ValueError if they are not a valid entry.
    parse_entry: Callable[[list[str]], Entry]

    def read(self) -> list[Entry]:
        lines = self._read_lines()
        if len(lines) < 2:
            # Kafka creates checkpoints empty, and a crash may leave them empty.
            if lines:
                self._check_version(lines[0])
            return []
        self._check_version(lines[0])
        entries = [self._parse(line, number) for number, line in enumerate(lines[2:], start=3)]
        if self._integer(lines[1], 2) != len(entries):
            raise self._corrupt(f"line 2 declares {lines[1]} entries, but {len(entries)} follow")
        return entries

    def write(self, entries: Collection[Entry]) -> None:
        """Replaces the file atomically and durably: after a crash it holds all old entries or all
        new ones."""
        replace_file(self.disk, self.path, self.content(entries))

    def content(self, entries: Collection[Entry]) -> bytes:
        lines = [str(VERSION), str(len(entries)), *map(self.format_entry, entries)]
        return "".join(f"{line}\n" for line in lines).encode()

    def _read_lines(self) -> list[str]:
        content = read_file(self.disk, self.path)
        if not content:
            return []
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise self._corrupt(f"byte {error.start} is not UTF-8") from error
        return text.removesuffix("\n").split("\n")

    def _check_version(self, line: str) -> None:
        if self._integer(line, 1) != VERSION:
            raise self._corrupt(f"line 1 declares version {line}, but only {VERSION} is supported")

    def _parse(self, line: str, number: int) -> Entry:
        try:
            return self.parse_entry(line.split())
        except ValueError as error:
            raise self._corrupt(f"line {number} is {line!r}: {error}") from error

    def _integer(self, line: str, number: int) -> int:
        try:
            return parse_integer(line)
        except ValueError as error:
            raise self._corrupt(f"line {number} is {line!r}: {error}") from error

    def _corrupt(self, reason: str) -> CorruptCheckpointError:
        return CorruptCheckpointError(
            f"{self.path} is corrupt: {reason}. Remove it to continue without its contents."
        )


def parse_integer(word: str) -> int:
    """A long in Java's format, without the spaces and underscores that `int` accepts."""
    if not _INTEGER.fullmatch(word) or not -(2**63) <= int(word) < 2**63:
        raise ValueError(f"{word!r} is not an integer")
    return int(word)
