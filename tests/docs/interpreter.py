"""The Python in which a document's blocks run, one after the other in one session."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

BLOCK_SECONDS_MAX = 300.0
END_SECONDS_MAX = 15.0


class Interpreter:
    """`close` it; what its blocks left running ends with it."""

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        self._output = tempfile.TemporaryFile("w+")  # noqa: SIM115 - open as long as this is
        self._process = subprocess.Popen(
            ["python", str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            cwd=directory,
            env=environment,
            text=True,
        )

    def run(self, code: str, *, name: str) -> str:
        """Empty, or the exception and what was written meanwhile."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, code]) + "\n")
        self._process.stdin.flush()
        watchdog = threading.Timer(BLOCK_SECONDS_MAX, self._process.kill)
        watchdog.start()
        answer = self._process.stdout.readline()
        watchdog.cancel()
        self._output.seek(0)
        written = self._output.read()
        if not answer:
            return f"the interpreter ended:\n{written}"
        error = str(json.loads(answer))
        return f"{written}\n{error}" if error else ""

    def close(self) -> None:
        """In order, so that Spark takes its leave."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdout, self._output):
            assert pipe is not None
            pipe.close()


def _serve() -> None:
    """In the child: takes blocks from standard input, and answers each with its error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    names: dict[str, object] = {"__name__": "__main__"}
    sys.path[0] = ""
    for line in sys.stdin:
        name, code = json.loads(line)
        try:
            exec(compile(code, name, "exec"), names)
            error = ""
        except BaseException:
            error = traceback.format_exc()
        print(json.dumps(error), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
