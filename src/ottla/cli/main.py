"""`ottla`: the command line. Each command has a package beside this module.

What a command needs it imports when it runs, and only the command that is run is imported at all,
so that help answers at once and a node starts in a blink.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from ottla import __version__

# What shells set to have words completed (`completion.py`).
_COMPLETION = "_OTTLA_COMPLETE"

# In the order in which help lists them. Those with commands of their own are `Typer`s.
_COMMANDS = (
    "start",
    "format",
    "produce",
    "consume",
    "offsets",
    "elect",
    "bench",
    "top",
    "apply",
    "export",
    "backup",
    "restore",
    "dump",
    "trace",
    "simulate",
    "gateway",
    "registry",
    "completion",
)
_GROUPS = (
    "cluster",
    "topics",
    "groups",
    "shares",
    "delays",
    "transactions",
    "configs",
    "acls",
    "users",
    "quotas",
    "tenants",
    "tokens",
    "certs",
    "quorum",
    "reassign",
    "log-dirs",
    "pipelines",
    "profile",
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"ottla {__version__}")
        raise typer.Exit


def ottla(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Kafka's little sister: a replicated commit log that speaks Kafka's protocol and writes
    Kafka's files."""


def make_app(command: str = "") -> typer.Typer:
    """The program with this command only, or with all if there is none of this name."""
    app = typer.Typer(
        name="ottla",
        callback=ottla,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_show_locals=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    names = (*_COMMANDS, *_GROUPS)
    for name in (command,) if command in names else names:
        module = import_module(f"ottla.cli.{name.replace('-', '_')}.command")
        if name in _GROUPS:
            app.add_typer(module.app, name=name)
        else:
            app.command()(getattr(module, name))
    return app


def run() -> None:
    """The entry point of the program."""
    if _COMPLETION in os.environ:
        from ottla.cli.completion.command import prepare_answers, typed_command

        prepare_answers()
        make_app(typed_command())(prog_name="ottla")
    else:
        make_app(sys.argv[1] if len(sys.argv) > 1 else "")()
