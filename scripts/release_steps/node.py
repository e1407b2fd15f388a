"""A node as a user starts it, for the other steps."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Node(NamedTuple):
    address: str
    data: Path


@contextmanager
def running_node() -> Iterator[Node]:
    with tempfile.TemporaryDirectory() as directory:
        command = ["ottla", "start", "--data-dir", directory, "--listen", "127.0.0.1:0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            ready = process.stdout.readline()
            assert ready.startswith("Ready on "), ready
            yield Node(ready.split()[2], Path(directory))
        finally:
            process.terminate()
            assert process.wait(30) == 0


def ottla(*arguments: str, standard_input: str = "") -> str:
    ran = subprocess.run(
        ["ottla", *arguments], input=standard_input, stdout=subprocess.PIPE, text=True
    )
    if ran.returncode:
        sys.exit(f"ottla {' '.join(arguments)}: exit code {ran.returncode}")
    return ran.stdout
