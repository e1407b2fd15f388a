"""`ottla trace` shows every step of a message: a renamed function may not drop out of it."""

from __future__ import annotations

import json
import subprocess
import sys

from ottla.cli.trace.run import STEPS

# A warm node with few records, and a producer that is not idempotent, do not need these.
RARE = {
    "add an index entry",
    "check the producer's epoch and sequence",
    "look the offset up in the index",
    "read (pread)",
    "read (preadv)",
    "send a byte range of the log file (sendfile)",
    "sync the directory",
}


def test_every_step_that_is_named_is_met() -> None:
    traced = subprocess.run(
        [sys.executable, "-m", "ottla", "trace", "--sync", "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    met = {json.loads(line)["what"] for line in traced.stdout.splitlines()}
    assert {step.label for step in STEPS.values()} - met == RARE
