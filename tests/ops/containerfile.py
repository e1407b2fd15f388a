"""A Containerfile as its instructions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class Instruction(NamedTuple):
    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """Of the form that needs no shell."""
        words = json.loads(self.text)
        assert all(isinstance(word, str) for word in words)
        return list(words)


def read_containerfile(path: Path) -> list[list[Instruction]]:
    """The instructions of each stage."""
    stages: list[list[Instruction]] = []
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, _, text = line.partition(" ")
        if name == "FROM":
            stages.append([])
        stages[-1].append(Instruction(name, text.strip()))
    return stages
