"""How the commands that talk to a cluster end, and the error that ends one."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """`docs/cli.md` tells users what these mean."""

    OK = 0
    REFUSED = 1
    USAGE = 2
    UNREACHABLE = 3
    # What shells say of a program that was interrupted.
    INTERRUPTED = 130


class CommandError(Exception):
    """Ends a command. `message` says what is wrong; each of `hints` what to do about it."""

    def __init__(self, message: str, *hints: str, exit_code: ExitCode = ExitCode.REFUSED) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints
        self.exit_code = exit_code
