"""One pipeline at a time on a directory of checkpoints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ottla.pipeline.running.checkpoint_lock import CheckpointInUseError, CheckpointLock

HOLD = """
import sys
from pathlib import Path
from ottla.pipeline.running.checkpoint_lock import CheckpointLock

lock = CheckpointLock.take(Path(sys.argv[1]), "orders.py")
print("held", flush=True)
sys.stdin.read()
"""


def holder(directory: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_holder_is_refused_and_learns_who_the_first_is(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        with pytest.raises(CheckpointInUseError, match=f"orders.py .* in process {process.pid} "):
            CheckpointLock.take(tmp_path, "copies.py")
        process.kill()
        process.wait()
    CheckpointLock.take(tmp_path, "copies.py").release()


def test_the_lock_is_held_until_what_inherited_it_has_ended(tmp_path: Path) -> None:
    """A pipeline was killed, and its Java runs for another moment."""
    lock = CheckpointLock.take(tmp_path, "orders.py")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[lock.descriptor]) as java:
        lock.release()
        with pytest.raises(CheckpointInUseError, match=f"in process {os.getpid()} "):
            CheckpointLock.take(tmp_path, "copies.py")
        file = tmp_path / ".lock"
        ended = {**json.loads(file.read_text()), "process": _ended_process()}
        file.write_text(json.dumps(ended))
        java.kill()
        CheckpointLock.take(tmp_path, "copies.py").release()


def _ended_process() -> int:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid
