"""Why a file cannot be read, for its user."""

from __future__ import annotations

from pathlib import Path


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
