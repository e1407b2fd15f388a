"""`ottla groups reset` at work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ottla.cli.arguments.partition_names import parse_partitions
from ottla.cli.arguments.reset_position import Bounds, ResetPlace, ResetPosition, new_offset
from ottla.cli.connection.topic_lookup import (
    earliest_offsets,
    existing_partitions,
    latest_offsets,
    offsets_at_time,
)
from ottla.cli.display.cells import count, number
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError
from ottla.cli.groups.client import alter_offsets, committed_offsets, describe_group, list_groups
from ottla.client.administration.admin import Admin
from ottla.model import TopicPartition


class OffsetMove(NamedTuple):
    topic: str
    partition: int
    old: int | None
    new: int


async def run_reset(
    admin: Admin,
    terminal: Terminal,
    group_id: str,
    position: ResetPosition,
    topics: Sequence[str],
    *,
    executes: bool,
    as_json: bool,
) -> None:
    await _require_stopped(admin, group_id)
    committed = await committed_offsets(admin, group_id)
    names = await _named(admin, topics) if topics else list(committed)
    if not names:
        raise CommandError(
            f"Group {group_id} has no offsets to move.", "Name the topics with --topic."
        )
    moves = await _moves(admin, position, names, committed)
    if executes:
        new = {TopicPartition(move.topic, move.partition): move.new for move in moves}
        await alter_offsets(admin, group_id, new)
    _show(terminal, group_id, moves, as_json=as_json)
    if not executes:
        terminal.notice("Nothing was changed. Add --execute to move the offsets.")


async def _require_stopped(admin: Admin, group_id: str) -> None:
    """A group that there is not yet may be given offsets to begin with."""
    if group_id not in {group.id for group in await list_groups(admin)}:
        return
    group = await describe_group(admin, group_id)
    if group.members:
        raise CommandError(
            f"Group {group_id} is {group.state} and has {count(len(group.members), 'member')}.",
            "Stop the members first: they would continue from their own positions.",
        )


async def _named(admin: Admin, topics: Sequence[str]) -> list[TopicPartition]:
    names: list[TopicPartition] = []
    for text in topics:
        topic, chosen = parse_partitions(text, what="--topic")
        partitions = await existing_partitions(admin, topic, chosen)
        names += [TopicPartition(topic, partition) for partition in partitions]
    return names


async def _moves(
    admin: Admin,
    position: ResetPosition,
    names: Sequence[TopicPartition],
    committed: dict[TopicPartition, int],
) -> list[OffsetMove]:
    moves = []
    for topic in dict.fromkeys(topic for topic, _ in names):
        partitions = [partition for name, partition in names if name == topic]
        earliest = await earliest_offsets(admin, topic, partitions)
        latest = await latest_offsets(admin, topic, partitions)
        found = {}
        if position.place is ResetPlace.TIME:
            found = await offsets_at_time(admin, topic, partitions, position.number)
        for partition in partitions:
            old, at_time = committed.get(TopicPartition(topic, partition)), found.get(partition)
            bounds = Bounds(
                earliest[partition],
                latest[partition],
                old,
                None if at_time is None else at_time.offset,
            )
            moves.append(OffsetMove(topic, partition, old, new_offset(position, bounds)))
    return moves


def _show(terminal: Terminal, group_id: str, moves: Sequence[OffsetMove], *, as_json: bool) -> None:
    if as_json:
        for move in moves:
            terminal.print_json({"group": group_id, **move._asdict()})
        return
    numbers = ("partition", "from", "to")
    table = new_table("topic", *numbers, right=numbers)
    for move in moves:
        table.add_row(move.topic, str(move.partition), number(move.old), str(move.new))
    terminal.stdout.print(table)
