"""Files with secrets: only their owner can read them, from their creation on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ottla.cli.exit_codes import CommandError, ExitCode

PRIVATE: Final = 0o600


def create_file(path: Path, content: bytes, *, mode: int = PRIVATE) -> None:
    """The file has its mode from the beginning. Raises FileExistsError and other OSErrors."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, mode)  # noqa: TID251 - no other call sets the mode

    with open(path, "xb", opener=opener) as file:
        file.write(content)


def write_private_file(path: Path, text: str) -> None:
    """Raises CommandError, also if the file exists."""
    try:
        create_file(path, text.encode("latin-1", errors="backslashreplace"))
    except OSError as error:
        raise CommandError(
            f"Cannot write {path}: {error.strerror}.", exit_code=ExitCode.USAGE
        ) from None
