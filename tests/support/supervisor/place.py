"""Where supervisors of fake pipelines run in a test."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from tests.support.supervisor.supervisor_process import SupervisorProcess


class Place:
    """A cluster and a directory, and the supervisors on them."""

    def __init__(self, bootstrap: str, directory: Path) -> None:
        self.directory = directory
        self._bootstrap = bootstrap
        self._started: list[SupervisorProcess] = []

    def supervisor(self) -> SupervisorProcess:
        self._started.append(SupervisorProcess(self._bootstrap, self.directory))
        return self._started[-1]

    def define(self, file: str, **definition: object) -> None:
        (self.directory / file).write_text(f"# {json.dumps(definition)}\n")

    def events(self, name: str) -> Counter[str]:
        file = self.directory / "checkpoints" / name / "events"
        return Counter(line.partition(" ")[0] for line in file.read_text().splitlines())

    def close(self) -> None:
        for each in self._started:
            if each.process.poll() is None:
                each.kill()
