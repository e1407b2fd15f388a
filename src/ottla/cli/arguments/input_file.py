"""What commands say about a file that they cannot read."""

from __future__ import annotations

from pathlib import Path

from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.unreadable_file import unreadable_text


def unreadable(path: Path | str, error: OSError, *, remedy: str) -> CommandError:
    return CommandError(f"{unreadable_text(path, error, remedy=remedy)}.", exit_code=ExitCode.USAGE)


def require_file(path: Path, *, remedy: str) -> None:
    """Checks before slow work that a file can be opened. Raises CommandError."""
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise unreadable(path, error, remedy=remedy) from None
