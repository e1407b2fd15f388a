"""What is mended in the processes that belong to Spark, shown in ones like them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# Spark's own, as far as it matters here: a loop that calls a task, and then writes to whom it got
# the task from.
WORKER = """
def main(write):
    try:
        write()
    except BrokenPipeError:
        print("the task goes on", flush=True)
"""
DAEMON = """
import os
from worker import main
from ottla.pipeline.spark_worker import leave_quietly

reading, writing = os.pipe()
os.close(reading)

def write():
    os.write(writing, b"nobody reads this")

leave_quietly()
main(write)
try:
    write()
finally:
    os.environ.get("HOME")
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"SPARK_REUSE_WORKER": "1"}
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=False
    )


def test_a_worker_whose_session_is_gone_leaves_without_a_word(tmp_path: Path) -> None:
    spark = tmp_path / "pyspark"
    spark.mkdir()
    for name, code in (("worker.py", WORKER), ("daemon.py", DAEMON)):
        (spark / name).write_text(code)
    left = run(str(spark / "daemon.py"))
    assert left.stdout == "the task goes on\n"
    assert left.stderr == ""
    assert left.returncode == 1


def test_what_is_loaded_is_set_aside_once() -> None:
    counts = run(
        "-c",
        "import gc\n"
        "from ottla.pipeline.spark_worker import set_aside\n"
        "set_aside('modules'); first = gc.get_freeze_count(); more = [[] for _ in range(1_000)]\n"
        "set_aside('modules'); print(gc.get_freeze_count() == first)\n"
        "set_aside('loops'); print(gc.get_freeze_count() >= first + 1_000)\n",
    )
    assert counts.stdout.split() == ["True", "True"], counts.stderr


def test_nothing_is_done_to_other_processes() -> None:
    environment = {name: text for name, text in os.environ.items() if "SPARK" not in name}
    code = (
        "import gc, signal\n"
        "from ottla.pipeline.spark_worker import leave_quietly, set_aside\n"
        "leave_quietly(); set_aside('modules')\n"
        "print(gc.get_freeze_count(), signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["0", "True"]
