"""What the commands that talk to a cluster share: options and arguments, and how they end.

Nothing heavy is imported here before a command runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ottla.cli.exit_codes import CommandError, ExitCode

if TYPE_CHECKING:
    from ottla.cli.display.terminal import Terminal

EXIT_CODES: Final = (
    "[bold]Exit codes[/]  0: done.  1: the cluster refused.  2: wrong usage.  3: cannot connect."
)

Json = Annotated[bool, typer.Option("--json", help="One JSON object per line, for scripts.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Watch = Annotated[
    bool,
    typer.Option("--watch", "-w", help="Update continuously, until Ctrl-C."),
]
Interval = Annotated[
    float,
    typer.Option(
        "--interval", min=0.1, metavar="SECONDS", help="Time between two updates of --watch."
    ),
]
DEFAULT_INTERVAL_S: Final = 1.0
Topic = Annotated[str, typer.Argument(metavar="TOPIC", show_default=False)]


@contextmanager
def client_command() -> Iterator[Terminal]:
    """Runs a command's body, and turns whatever ends it into a message and an exit code."""
    from ottla.cli.client_security.refused_properties import refused_properties
    from ottla.cli.display.pipe import reader_may_leave
    from ottla.cli.display.terminal import open_terminal

    terminal = open_terminal()
    try:
        with reader_may_leave(), refused_properties():
            yield terminal
    except CommandError as error:
        terminal.complain(error)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
