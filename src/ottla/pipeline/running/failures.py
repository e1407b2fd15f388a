"""Explains why a query failed, and what to do about it.

Spark reports several pages with the stack traces of Java and Python. The useful message is that of
the last exception raised by Ottla or by the query's own checks, else the last cause.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from ottla.pipeline.definitions.databases import no_driver

_OURS: Final = re.compile(r"^\s*ottla\.[\w.]*?(\w+Error): (.+)$", re.MULTILINE)
_RAISED: Final = re.compile(r"\[USER_RAISED_EXCEPTION\] (.+?)(?: SQLSTATE|$)", re.MULTILINE)
# The first line of an error of the user's own function.
_PYTHON: Final = re.compile(r"^(?:pyspark\.\S+: )?(\w*(?:Error|Exception): .+)$", re.MULTILINE)
_PASSING: Final = (
    # Spark waits ten seconds for a new Python worker, which can be too short on a busy host.
    "Python worker failed to connect back",
    # Queries that start at the same time in one session may modify an object that another one is
    # serializing for its tasks (Scala: "Illegal size 5 of collection, expected 6").
    "Task not serializable",
)
_FULL: Final = ("No space left on device", "Disk quota exceeded")
_MEMORY: Final = "java.lang.OutOfMemoryError"
_NO_DRIVER: Final = re.compile(
    r"java\.sql\.SQLException: No suitable driver|ClassNotFoundException: (\S+\.\S*Driver)\b"
)
_RESUMES: Final = "No data is lost: run the pipeline again, and it continues where it stopped."


class Failure(NamedTuple):
    """`report` is all that Spark says of it."""

    message: str
    hints: tuple[str, ...]
    report: str = ""


def explain(query: str, text: str, checkpoint: Path, *, place: str = "") -> Failure:
    """`text` is Spark's whole report about the failed query, `place` is what its sink writes."""
    if any(each in text for each in _FULL):
        return Failure(
            f"{query} stopped: no space is left on the disk of its checkpoint {checkpoint}, or of "
            "Spark's scratch directory.",
            ("Free space there.", _RESUMES),
            text,
        )
    if raised := _RAISED.findall(text):
        hints = (
            "Change the schema in the definition, or set such records aside: "
            'Topic(..., rejected_to="TOPIC").',
            _RESUMES,
        )
        return Failure(f"{query} stopped: {raised[-1]}.", hints, text)
    if _NO_DRIVER.search(text):
        return Failure(f"{query} stopped: {no_driver(place)}", (_RESUMES,), text)
    if _MEMORY in text:
        hint = "Give Spark more memory: --conf spark.driver.memory=4g"
        return Failure(f"{query} stopped: Java ran out of memory.", (hint, _RESUMES), text)
    if ours := _OURS.findall(text):
        return Failure(f"{query} stopped: {ours[-1][1].rstrip('.')}.", (_RESUMES,), text)
    return Failure(f"{query} stopped: {_gist(text)}", (_RESUMES,), text)


def is_passing(text: str) -> bool:
    """Whether the failure is temporary, so that a restart may succeed."""
    return any(each in text for each in _PASSING)


def _gist(text: str) -> str:
    """The error of the user's Python function, else the first line of the last cause."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    if "Traceback (most recent call last)" in text and (found := _PYTHON.findall(text)):
        return str(found[-1])
    if causes:
        return causes[-1]
    first = lines[0] if lines else "Spark gives no reason"
    return first.rpartition("terminated with exception: ")[2]
