"""`ottla topics delete-records` at work: deletes the oldest records of partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.connection.topic_lookup import (
    earliest_offsets,
    existing_partitions,
    latest_offsets,
    offsets_at_time,
)
from ottla.cli.consume.start_position import Anchor, PartitionBounds, StartPosition, resolve_start
from ottla.cli.display.cells import count
from ottla.cli.display.confirmation import confirm
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.model import TopicPartition


class Trim(NamedTuple):
    """What is deleted of a partition: from `earliest` to before `before`."""

    partition: int
    earliest: int
    before: int


async def run_delete_records(
    admin: Admin,
    terminal: Terminal,
    topic: str,
    chosen: Sequence[int],
    position: StartPosition,
    *,
    is_confirmed: bool,
    as_json: bool,
) -> None:
    trims = await planned_trims(admin, topic, chosen, position)
    if trims and not is_confirmed:
        confirm(question(topic, trims))
    await delete_records(admin, terminal, topic, trims, as_json=as_json)


async def planned_trims(
    admin: Admin, topic: str, chosen: Sequence[int], position: StartPosition
) -> list[Trim]:
    """Only of partitions that have something to delete. Raises CommandError."""
    partitions = await existing_partitions(admin, topic, chosen)
    earliest = await earliest_offsets(admin, topic, partitions)
    latest = await latest_offsets(admin, topic, partitions)
    if position.anchor is Anchor.OFFSET:
        _require_within(topic, position.number, latest)
    found = (
        await offsets_at_time(admin, topic, partitions, position.number)
        if position.anchor is Anchor.TIME
        else {}
    )
    trims = []
    for partition in partitions:
        at_time = found.get(partition)
        bounds = PartitionBounds(
            earliest[partition], latest[partition], None if at_time is None else at_time.offset
        )
        before = resolve_start(position, bounds)
        if before > earliest[partition]:
            trims.append(Trim(partition, earliest[partition], before))
    return trims


def question(topic: str, trims: Sequence[Trim]) -> str:
    """Offsets, because compaction and transactions make for fewer records."""
    offsets = sum(trim.before - trim.earliest for trim in trims)
    where = count(len(trims), "partition")
    return f"Delete the records at {count(offsets, 'offset')} in {where} of {topic}?"


async def delete_records(
    admin: Admin,
    terminal: Terminal,
    topic: str,
    trims: Sequence[Trim],
    *,
    as_json: bool,
) -> None:
    if not trims:
        if not as_json:
            terminal.notice(f"There are no records to delete in {topic}.")
        return
    before = {TopicPartition(topic, trim.partition): trim.before for trim in trims}
    with doing(f"delete records of {topic}"):
        results = await admin.delete_records(before)
    for name, error in results.failed.items():
        raise refused(f"delete records of {name}", error)
    earliest = {name.partition: offset for name, offset in results.succeeded.items()}
    _show(terminal, topic, trims, earliest, as_json=as_json)


def _require_within(topic: str, offset: int, latest: Mapping[int, int]) -> None:
    for partition, end in latest.items():
        if offset > end:
            raise CommandError(
                f"{topic}-{partition} has no offset {offset}: its latest offset is {end}.",
                "Name the partitions with --partition, or delete everything with --before end.",
                exit_code=ExitCode.USAGE,
            )


def _show(
    terminal: Terminal,
    topic: str,
    trims: Sequence[Trim],
    earliest: Mapping[int, int],
    *,
    as_json: bool,
) -> None:
    if as_json:
        for trim in trims:
            terminal.print_json(
                {
                    "topic": topic,
                    "partition": trim.partition,
                    "earliest": earliest[trim.partition],
                    "earliest_before": trim.earliest,
                }
            )
        return
    numbers = ("partition", "earliest", "earliest before")
    table = new_table(*numbers, right=numbers)
    for trim in trims:
        table.add_row(str(trim.partition), str(earliest[trim.partition]), str(trim.earliest))
    terminal.stdout.print(table)
