"""Reads the files of `ottla apply`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ottla.cli.arguments.input_file import unreadable
from ottla.cli.cluster_file.desired import DesiredState
from ottla.cli.cluster_file.mistakes import Mistake
from ottla.cli.cluster_file.parsing import parse_files
from ottla.cli.exit_codes import CommandError, ExitCode

STANDARD_INPUT: Final = "-"
# What mistakes call it. Paths in it are relative to the current directory.
_STDIN_NAME: Final = "stdin"


def read_desired(paths: Sequence[str]) -> tuple[DesiredState, list[Mistake]]:
    """Raises CommandError for a file that cannot be read at all."""
    if len(set(paths)) < len(paths):
        raise CommandError("A file is given twice.", exit_code=ExitCode.USAGE)
    return parse_files([_read(path) for path in paths])


def _read(path: str) -> tuple[str, str]:
    name = _STDIN_NAME if path == STANDARD_INPUT else path
    try:
        content = sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
        return name, content.decode()
    except OSError as error:
        remedy = "give -f the path of a cluster file; `ottla export` writes one"
        raise unreadable(path, error, remedy=remedy) from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise CommandError(
            f"{name}:{line}: this is not UTF-8; save the file as UTF-8.", exit_code=ExitCode.USAGE
        ) from None
