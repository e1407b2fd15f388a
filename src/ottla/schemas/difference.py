"""One difference between two schemas that matters to compatibility."""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """`kind` has the name that Confluent's documentation gives it. In `text`, {reader} and {writer}
    stand for the two schemas: data that was written with the second are read with the first."""

    kind: str
    path: str
    text: str
    detail: str = ""

    def message(self, *, reader: str, writer: str) -> str:
        """For people; in the form in which registries print a difference."""
        described = self.text.replace("{reader}", reader).replace("{writer}", writer)
        return (
            f"{{errorType:'{self.kind}', description:\"{described}\", "
            f"additionalInfo:'{self.detail}'}}"
        )


class StepBudget:
    """Counts the steps of a comparison, so that no schema keeps a process busy for long."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def take(self) -> bool:
        """False when there are no steps left."""
        self.left -= 1
        return self.left >= 0
