"""How topics look, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ottla.cli.display.cells import NOTHING, count, number
from ottla.cli.display.terminal import new_table
from ottla.client.administration.topics import TopicDescription


class PartitionView(NamedTuple):
    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    # Unknown if there is no leader.
    earliest: int | None
    latest: int | None


class TopicView(NamedTuple):
    name: str
    topic_id: str
    is_internal: bool
    configs: dict[str, str | None]
    partitions: tuple[PartitionView, ...]


def listing_table(topics: Iterable[TopicDescription]) -> Table:
    rows = [listing_json(topic) for topic in topics]
    has_notes = any(row["without_leader"] or row["under_replicated"] for row in rows)
    titles = ("topic", "partitions", "replicas", "notes")
    table = new_table(*titles[: None if has_notes else -1], right=("partitions", "replicas"))
    for shown in rows:
        notes = [
            f"{shown[field]} {meaning}"
            for field, meaning in (
                ("without_leader", "without leader"),
                ("under_replicated", "under-replicated"),
            )
            if shown[field]
        ]
        table.add_row(
            Text(shown["topic"]),
            str(shown["partitions"]),
            str(shown["replication_factor"]),
            Text(", ".join(notes), style="red"),
        )
    return table


def listing_json(topic: TopicDescription) -> dict[str, Any]:
    partitions = topic.partitions
    return {
        "topic": topic.name,
        "partitions": len(partitions),
        "replication_factor": max((len(partition.replicas) for partition in partitions), default=0),
        "without_leader": sum(partition.leader is None for partition in partitions),
        "under_replicated": sum(
            len(partition.in_sync) < len(partition.replicas) for partition in partitions
        ),
    }


def print_description(console: Console, topic: TopicView) -> None:
    heading = Text(topic.name, style="bold")
    facts = [f"id {topic.topic_id}", count(len(topic.partitions), "partition")]
    if topic.is_internal:
        facts.append("internal")
    heading.append("  " + ", ".join(facts), style="not bold dim")
    console.print(heading, soft_wrap=True)
    for name, value in sorted(topic.configs.items()):
        console.print(Text(f"{name}={value}", style="cyan"), soft_wrap=True)
    console.print(_partitions_table(topic))
    console.print()


def description_json(topic: TopicView) -> dict[str, Any]:
    fields = topic._asdict()
    fields["topic"] = fields.pop("name")
    partitions = [partition._asdict() for partition in topic.partitions]
    return {"topic": topic.name} | fields | {"partitions": partitions}


def _partitions_table(topic: TopicView) -> Table:
    numbers = ("partition", "leader", "earliest", "latest", "length")
    table = new_table(*numbers, "replicas", "in sync", right=numbers)
    for partition in topic.partitions:
        lacks_replicas = len(partition.in_sync) < len(partition.replicas)
        table.add_row(
            str(partition.partition),
            Text("none", style="red") if partition.leader is None else str(partition.leader),
            number(partition.earliest),
            number(partition.latest),
            _length(partition),
            _ids(partition.replicas),
            Text(_ids(partition.in_sync), style="red" if lacks_replicas else ""),
        )
    return table


def _length(partition: PartitionView) -> str:
    if partition.earliest is None or partition.latest is None:
        return NOTHING
    return f"{partition.latest - partition.earliest:,}"


def _ids(ids: Iterable[int]) -> str:
    return ", ".join(map(str, ids)) or NOTHING
