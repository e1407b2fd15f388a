"""Ends the process of a node."""

from __future__ import annotations

import signal
import subprocess

STOP_SECONDS_MAX = 60.0


def end_process(process: subprocess.Popen[str], number: signal.Signals) -> int:
    """Sends a signal and returns the exit code. Kills a process that does not end in time, and
    raises TimeoutExpired."""
    process.send_signal(number)
    try:
        return process.wait(STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    finally:
        assert process.stdout is not None
        process.stdout.close()
