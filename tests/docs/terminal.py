"""A shell at which a document's commands are typed; it keeps its state from one to the next."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

COMMAND_SECONDS_MAX = 300.0
END_SECONDS_MAX = 30.0
INTERRUPTED = 130
_POLL_SECONDS = 0.02


class StuckCommandError(Exception):
    """A command that hangs, or ends while it should go on."""


class Terminal:
    """Output goes to files: a process that a command leaves behind holds no pipe open. `close`
    it."""

    def __init__(self, scratch: Path, directory: Path, environment: Mapping[str, str]) -> None:
        self._scratch = scratch
        scratch.mkdir()
        self._count = 0
        self._codes, self._shell_codes = os.pipe()
        self._shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=directory,
            env=environment,
            pass_fds=[self._shell_codes],
            start_new_session=True,
            text=True,
        )
        os.close(self._shell_codes)

    def run(self, command: str) -> tuple[int, str]:
        """The exit code, and what it wrote to its output and its errors."""
        output = self._type(command)
        code = self._wait_code(COMMAND_SECONDS_MAX)
        if code is None:
            raise StuckCommandError(
                f"{command} is not over after {COMMAND_SECONDS_MAX:.0f} s:\n{_text(output)}"
            )
        return code, _text(output)

    def begin(self, command: str, is_ready: Callable[[str], bool]) -> None:
        """Returns as soon as what the command wrote is ready."""
        output = self._type(command)
        deadline = time.perf_counter() + COMMAND_SECONDS_MAX
        while not is_ready(_text(output)):
            if self._wait_code(0.0) is not None:
                raise StuckCommandError(f"{command} has ended, but should go on:\n{_text(output)}")
            if time.perf_counter() > deadline:
                raise StuckCommandError(f"{command} has not become ready:\n{_text(output)}")
            threading.Event().wait(_POLL_SECONDS)

    def interrupt(self) -> None:
        """Ctrl-C, and waits for the end of what runs."""
        with suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGINT)
        if self._wait_code(END_SECONDS_MAX) is None:
            raise StuckCommandError(f"a command goes on after Ctrl-C:\n{self._last_output()}")

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait()
        assert self._shell.stdin is not None
        with suppress(BrokenPipeError):
            self._shell.stdin.close()
        os.close(self._codes)

    def _type(self, command: str) -> Path:
        self._count += 1
        script = self._scratch / f"{self._count}.sh"
        output = self._scratch / f"{self._count}.txt"
        script.write_text(f"{command}\n")
        output.touch()
        assert self._shell.stdin is not None
        # Only the shell itself keeps the pipe for exit codes open: its end is the shell's.
        place = self._shell_codes
        self._shell.stdin.write(
            f"{{ . {script}; }} </dev/null >{output} 2>&1 {place}>&-; echo $? >&{place}\n"
        )
        self._shell.stdin.flush()
        return output

    def _wait_code(self, seconds: float) -> int | None:
        """Of the command that was typed last. A shell that Ctrl-C ended has none: 130."""
        if not select.select([self._codes], [], [], seconds)[0]:
            return None
        return int(os.read(self._codes, 64) or INTERRUPTED)

    def _last_output(self) -> str:
        return _text(self._scratch / f"{self._count}.txt")


def _text(file: Path) -> str:
    return file.read_text(errors="replace")
