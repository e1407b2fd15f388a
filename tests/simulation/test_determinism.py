"""The same seed gives the same history, byte for byte, whatever the interpreter is started with."""

import hashlib
import os
import subprocess
import sys

_PROGRAM = """
import hashlib, sys
from ottla.simulation.faults.fault_plan import plan_of
from ottla.simulation.runs.seeded_run import run_plan
for seed in sys.argv[1:]:
    text = run_plan(plan_of(int(seed)), notes=True).history.text()
    print(len(text), hashlib.sha256(text.encode()).hexdigest())
"""
# The second one has a secured cluster.
_SEEDS = ("23", "74")


def test_two_processes_with_other_hash_seeds_print_the_same_history() -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *_SEEDS],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        )
        for hash_seed in ("1", "2")
    ]
    histories = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert histories[0] == histories[1]
    assert hashlib.sha256(b"").hexdigest() not in histories[0], "nothing was told at all"
