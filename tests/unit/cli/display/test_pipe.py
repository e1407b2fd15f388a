"""A reader that leaves early ends a command without an error."""

from __future__ import annotations

import subprocess
import sys

_ENDLESS = """
from ottla.cli.display.pipe import reader_may_leave
from ottla.cli.display.terminal import open_terminal

with reader_may_leave():
    while True:
        open_terminal().stdout.print("a line")
print("what is buffered", flush=False)
"""


def test_command_ends_without_an_error_when_its_reader_leaves() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        assert command.stdout.readline() == "a line\n"
        command.stdout.close()
        assert command.wait(30) == 0
        assert command.stderr.read() == ""
