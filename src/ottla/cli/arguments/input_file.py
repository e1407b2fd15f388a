"""What commands say about a file that they cannot read."""

from __future__ import annotations

from pathlib import Path

from ottla.cli.exit_codes import CommandError, ExitCode


def unreadable_text(path: Path | str, error: OSError, *, remedy: str) -> str:
    """One sentence without a full stop. `remedy` says what to do."""
    match error:
        case FileNotFoundError() | NotADirectoryError():
            problem = "does not exist"
        case IsADirectoryError():
            problem = "is a directory, not a file"
        case PermissionError():
            problem = "cannot be read with the permissions of this user"
        case _:
            problem = f"cannot be read ({error.strerror})"
    return f"{path} {problem}; {remedy}"


def unreadable(path: Path | str, error: OSError, *, remedy: str) -> CommandError:
    return CommandError(f"{unreadable_text(path, error, remedy=remedy)}.", exit_code=ExitCode.USAGE)


def require_file(path: Path, *, remedy: str) -> None:
    """Checks before slow work that a file can be opened. Raises CommandError."""
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise unreadable(path, error, remedy=remedy) from None
