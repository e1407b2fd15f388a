"""What Apache Kafka said about configs; made by tests/fixtures/make_config_fixtures.py."""

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Kafka's authorizer reads these from the properties; Kafka's tables of broker configs have neither.
OF_THE_AUTHORIZER = {"allow.everyone.if.no.acl.found", "super.users"}
FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "configs"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What Kafka made of a question: an answer (None if there is nothing to say), or a refusal."""

    question: dict[str, Any]
    answer: str | None
    refusal: str | None

    def __str__(self) -> str:
        return " ".join(str(value) for key, value in self.question.items() if key != "static")


@functools.cache
def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())


def verdicts(kind: str) -> list[Verdict]:
    return [
        Verdict(row["question"], row.get("answer"), row.get("refusal"))
        for row in read("verdicts")
        if row["question"]["kind"] == kind
    ]
