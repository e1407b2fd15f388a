"""Reads passwords: from a file, or typed twice at a terminal. Never from the command line, which
other users of the host can read."""

from __future__ import annotations

import sys
from getpass import getpass
from pathlib import Path

from ottla.cli.arguments.input_file import unreadable
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.configs.value import Password


def read_password_file(path: Path) -> Password:
    """The first line of a file, or of standard input for `-`. Raises CommandError."""
    try:
        text = sys.stdin.readline() if str(path) == "-" else path.read_text("utf-8")
    except OSError as error:
        raise unreadable(path, error, remedy="write the password into a file") from None
    except UnicodeDecodeError:
        raise _usage(f"The password in {path} is not UTF-8.") from None
    password, _, rest = text.partition("\n")
    password = password.removesuffix("\r")
    if rest.strip():
        raise _usage(
            f"{path} has more than one line.", "The file must have the password as its only line."
        )
    if not password:
        raise _usage(f"{path} has no password.")
    return Password(password)


def ask_new_password(what: str) -> Password:
    """Asks twice. Raises CommandError if there is no terminal."""
    if not sys.stdin.isatty():
        raise _usage(
            "The command asks for a password, and standard input is not a terminal.",
            "Give the password with --password-file FILE, or - for standard input.",
        )
    first = getpass(f"{what}: ", sys.stderr)
    if not first:
        raise _usage("The password is empty.")
    if getpass("Repeat the password: ", sys.stderr) != first:
        raise _usage("The two passwords differ.")
    return Password(first)


def _usage(message: str, *hints: str) -> CommandError:
    return CommandError(message, *hints, exit_code=ExitCode.USAGE)
