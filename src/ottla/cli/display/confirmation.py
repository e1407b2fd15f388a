"""Asks for confirmation before an action that cannot be undone."""

from __future__ import annotations

import sys

import typer

from ottla.cli.exit_codes import CommandError, ExitCode


def confirm(question: str) -> None:
    """Returns if the answer is yes, ends the command if it is no. Ctrl-C interrupts it."""
    if not sys.stdin.isatty():
        raise CommandError(
            "The command asks for confirmation, and standard input is not a terminal.",
            "Add --yes to go on without confirmation.",
            exit_code=ExitCode.USAGE,
        )
    typer.echo(f"{question} [y/N]: ", nl=False, err=True)
    try:
        answer = input()
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise typer.Exit(ExitCode.OK)
