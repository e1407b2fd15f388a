"""What Apache Kafka 4.3.1 asks its authorizer for, read from `fixtures/authorization`.

`operations.json` has every API with the rules of its request. `integration_test_rows.json` has what
Kafka's own AuthorizerIntegrationTest expects: rows of ACLs, and one claim for each test method.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "authorization"


@dataclass(frozen=True, slots=True)
class KafkaAction:
    """An operation on a resource. The resource is a name, or the request fields that hold names."""

    operation: str
    resource_type: str
    resource: str


@dataclass(frozen=True, slots=True)
class KafkaRule:
    """One check of a request: any of the actions is enough, else the error."""

    actions: tuple[KafkaAction, ...]
    when: str
    error: str | None  # None: the response leaves something out, but does not fail.
    error_place: str
    versions: str | None


@dataclass(frozen=True, slots=True)
class KafkaAuthorization:
    """The rules of one API, in the order of the checks."""

    name: str
    checked_by: str
    rules: tuple[KafkaRule, ...]


@cache
def authorizations() -> dict[int, KafkaAuthorization]:
    return {
        int(key): KafkaAuthorization(
            api["name"], api["checked_by"], tuple(_rule(row) for row in api["rules"])
        )
        for key, api in read_authorization("operations")["apis"].items()
    }


@cache
def read_authorization(name: str) -> dict[str, Any]:
    contents: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return contents


def _rule(row: dict[str, Any]) -> KafkaRule:
    actions = tuple(
        KafkaAction(each["operation"], each["resource_type"], each["resource"])
        for each in (row, *row.get("or", ()))
    )
    return KafkaRule(actions, row["when"], row["error"], row["error_place"], row.get("versions"))
