"""The line of Spark's log that says why Spark ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.pipeline.running.spark_log import cause_in

LOGS = {
    "java.lang.OutOfMemoryError: Java heap space\nCaused by: x.Y: later\n": (
        "java.lang.OutOfMemoryError: Java heap space"
    ),
    "at x\nCaused by: x.Y: first\nCaused by: x.Z: second\n at y\n": "x.Z: second",
    "WARNING: modules\nError: Could not find or load main class X\n": (
        "Could not find or load main class X"
    ),
    "Unrecognized VM option 'Foo'\nError: Could not create the Java Virtual Machine.\n": (
        "Could not create the Java Virtual Machine."
    ),
    'Exception in thread "main" x.Y: no master\n at x\n': "x.Y: no master",
    "all is well\n": None,
}


@pytest.mark.parametrize("text", LOGS)
def test_the_cause_is_found(text: str, tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    log.write_text(text)
    assert cause_in(log) == LOGS[text]


def test_without_a_log_there_is_no_cause(tmp_path: Path) -> None:
    assert cause_in(None) is None
    assert cause_in(tmp_path / "none.log") is None
