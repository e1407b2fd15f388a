"""`ottla offsets` at work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich.table import Table

from ottla.cli.arguments.moments import parse_moment
from ottla.cli.connection.topic_lookup import (
    earliest_offsets,
    existing_partitions,
    latest_offsets,
    offsets_at_time,
)
from ottla.cli.display.cells import NOTHING, moment
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.client.administration.offsets import ListedOffset


class PartitionOffsets(NamedTuple):
    partition: int
    earliest: int
    latest: int
    # None without --at, or if no record is that new.
    found: ListedOffset | None


def parse_at(text: str, *, now_ms: int) -> int:
    try:
        return parse_moment(text, now_ms=now_ms)
    except ValueError as error:
        raise CommandError(f"--at: {error}.", exit_code=ExitCode.USAGE) from None


async def run_offsets(
    admin: Admin,
    terminal: Terminal,
    topic: str,
    chosen: Iterable[int],
    at_ms: int | None,
    *,
    as_json: bool,
) -> None:
    partitions = await existing_partitions(admin, topic, chosen)
    earliest = await earliest_offsets(admin, topic, partitions)
    latest = await latest_offsets(admin, topic, partitions)
    found = {} if at_ms is None else await offsets_at_time(admin, topic, partitions, at_ms)
    rows = [
        PartitionOffsets(partition, earliest[partition], latest[partition], found.get(partition))
        for partition in partitions
    ]
    if as_json:
        for row in rows:
            terminal.print_json(offsets_json(topic, row, has_time=at_ms is not None))
    else:
        terminal.stdout.print(offsets_table(rows, at_ms))


def offsets_table(rows: Sequence[PartitionOffsets], at_ms: int | None) -> Table:
    numbers = ["partition", "earliest", "latest", "length"]
    at = () if at_ms is None else (f"at {moment(at_ms)}", "its time")
    table = new_table(*numbers, *at, right=(*numbers, *at[:1]))
    for row in rows:
        cells = [str(row.partition), str(row.earliest), str(row.latest), f"{_length(row):,}"]
        if at:
            cells += (
                (NOTHING, NOTHING)
                if row.found is None
                else (str(row.found.offset), moment(row.found.timestamp))
            )
        table.add_row(*cells)
    if len(rows) > 1:
        table.add_row("all", "", "", f"{sum(map(_length, rows)):,}", style="dim")
    return table


def offsets_json(topic: str, row: PartitionOffsets, *, has_time: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "topic": topic,
        "partition": row.partition,
        "earliest": row.earliest,
        "latest": row.latest,
    }
    if has_time:
        fields["at_time"] = None if row.found is None else row.found.offset
        fields["at_time_timestamp"] = None if row.found is None else row.found.timestamp
    return fields


def _length(row: PartitionOffsets) -> int:
    return row.latest - row.earliest
