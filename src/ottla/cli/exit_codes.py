"""The exit codes of commands that connect to a cluster, and the error that ends a command."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Documented in `docs/cli.md`."""

    OK = 0
    REFUSED = 1
    # The same code: `ottla apply --check` found that the cluster differs from the file.
    DIFFERENT = 1
    USAGE = 2
    UNREACHABLE = 3
    # The code that shells use for an interrupted program.
    INTERRUPTED = 130


class CommandError(Exception):
    """Ends a command. `message` says what is wrong, and `hints` what to do about it."""

    def __init__(self, message: str, *hints: str, exit_code: ExitCode = ExitCode.REFUSED) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints
        self.exit_code = exit_code
