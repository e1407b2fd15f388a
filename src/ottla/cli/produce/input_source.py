"""A file, or what comes in on standard input, with how much of it has been read."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ottla.cli.arguments.input_file import unreadable


class InputSource:
    """A stream of bytes that the caller opened and will close."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        # A person types it, and wants each line to go at once.
        self.is_live = stream.isatty()
        self._is_seekable = stream.seekable() and not self.is_live
        # The size of a pipe is not known.
        self.length = self._measure() if self._is_seekable else None

    @property
    def position(self) -> int:
        return self.stream.tell() if self._is_seekable else 0

    def _measure(self) -> int:
        position = self.stream.tell()
        length = self.stream.seek(0, io.SEEK_END)
        self.stream.seek(position)
        return length


@contextmanager
def open_input(path: str | None) -> Iterator[InputSource]:
    """Standard input is called - or nothing."""
    if path is None or path == "-":
        yield InputSource(sys.stdin.buffer)
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        remedy = "give --file the path of a file, or - for standard input"
        raise unreadable(path, error, remedy=remedy) from None
    with stream:
        yield InputSource(stream)
