"""The output of commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ottla.cli.exit_codes import CommandError
from ottla.runtime.log_text import escape_unprintable

# The width for pipes and files: so large that nothing is wrapped or cut. COLUMNS overrides it.
PIPE_COLUMNS: Final = 65_536


class Terminal(NamedTuple):
    """The two streams of a command."""

    stdout: Console
    stderr: Console

    def print_json(self, fields: Mapping[str, Any]) -> None:
        """Prints one line, regardless of the width."""
        self.stdout.file.write(json_line(fields))

    def notice(self, text: str) -> None:
        """Prints a notice, which is not an error."""
        self.stderr.print(Text(text, style="yellow"), soft_wrap=True)

    def complain(self, error: CommandError) -> None:
        self.stdout.file.flush()
        self.stderr.print(Text(error.message, style="red"), soft_wrap=True)
        for hint in error.hints:
            self.stderr.print(Text(hint), soft_wrap=True)


class SafeConsole(Console):
    """Escapes what is not printable, so that names in a cluster cannot control the terminal."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else escape_unprintable(text, kept="\n"), style, control)


class StandardOutput(SafeConsole):
    """Raises BrokenPipeError when the reader of a pipe has gone, for the command to handle."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def open_terminal() -> Terminal:
    stdout, stderr = StandardOutput(highlight=False), SafeConsole(stderr=True, highlight=False)
    if not stdout.is_terminal and "COLUMNS" not in os.environ:
        stdout.width = PIPE_COLUMNS
    return Terminal(stdout, stderr)


def json_line(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def new_table(*titles: str, right: tuple[str, ...] = ()) -> Table:
    """A table without lines. The columns in `right` are aligned right; only the last may wrap."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold dim")
    for title in titles:
        table.add_column(
            title,
            justify="right" if title in right else "left",
            no_wrap=title != titles[-1],
            overflow="fold",
        )
    return table
