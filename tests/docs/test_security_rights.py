"""The table of rights in docs/security.md has what the APIs declare beside their handlers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ottla.broker.network.handling import HandledApi
from ottla.wire.apis import ApiKey
from tests.support.nodes.one_node import OneNode

ROOT = Path(__file__).resolve().parents[2]
NOTHING = "—"


def words(api: HandledApi | None) -> str:
    if api is None:
        return ""
    rights = (f"{each.operation.name} {each.resource_type.name}" for each in api.rights)
    return ", ".join(rights) or NOTHING


def title(key: int) -> str:
    return "".join(part.capitalize() for part in ApiKey(key).name.split("_"))


def rows(brokers: Mapping[int, HandledApi], controllers: Mapping[int, HandledApi]) -> Iterator[str]:
    for key in sorted({*brokers, *controllers}, key=title):
        yield f"| {title(key)} | {words(brokers.get(key))} | {words(controllers.get(key))} |"


def test_every_api_is_listed_with_the_rights_that_it_declares() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    section = text.partition("## Which request needs which right")[2].partition("\n## ")[0]
    written = [line for line in section.splitlines() if line.startswith("|")][2:]
    node = OneNode()
    declared = list(rows(node.broker.apis, node.broker.controller_apis))
    node.abandon()
    assert written == declared, "\n".join(declared)
