"""`ottla`: the command line. Each command is a module beside this one.

What a command needs it imports when it runs, so that help and completion answer at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli import configs, topics
from ottla.cli.bench import bench
from ottla.cli.consume import consume
from ottla.cli.dump import dump
from ottla.cli.offsets import offsets
from ottla.cli.produce import produce
from ottla.cli.start import start
from ottla.cli.trace import trace

app = typer.Typer(
    name="ottla",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ottla {version('ottla')}")
        raise typer.Exit


@app.callback()
def ottla(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Kafka's little sister: a replicated commit log that speaks Kafka's protocol and writes
    Kafka's files."""


app.command()(start)
app.add_typer(topics.app, name="topics")
app.add_typer(configs.app, name="configs")
app.command()(produce)
app.command()(consume)
app.command()(offsets)
app.command()(bench)
app.command()(dump)
app.command()(trace)


def run() -> None:
    """The entry point of the program."""
    app()


if __name__ == "__main__":
    run()
