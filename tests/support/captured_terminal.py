"""A terminal whose two streams a test can read."""

from __future__ import annotations

import io

from rich.console import Console

from ottla.cli.display.terminal import Terminal

COLUMNS = 100


def captured_terminal(*, is_terminal: bool = False) -> Terminal:
    """Nothing of it is seen by anybody; see `said` and `complained`."""
    stdout, stderr = (
        Console(file=io.StringIO(), width=COLUMNS, force_terminal=is_terminal, highlight=False)
        for _ in range(2)
    )
    return Terminal(stdout, stderr)


def said(terminal: Terminal) -> str:
    """What went to standard output."""
    assert isinstance(terminal.stdout.file, io.StringIO)
    return terminal.stdout.file.getvalue()


def complained(terminal: Terminal) -> str:
    """What went to standard error."""
    assert isinstance(terminal.stderr.file, io.StringIO)
    return terminal.stderr.file.getvalue()
