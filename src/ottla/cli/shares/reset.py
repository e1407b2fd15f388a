"""`ottla shares reset` at work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ottla.cli.arguments.partition_names import parse_partitions
from ottla.cli.arguments.reset_position import Bounds, ResetPlace, ResetPosition, new_offset
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.connection.topic_lookup import (
    earliest_offsets,
    existing_partitions,
    latest_offsets,
    offsets_at_time,
)
from ottla.cli.display.cells import count, number
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.admin import Admin
from ottla.client.administration.share_groups import SHARE, ShareOffset
from ottla.model import TopicPartition


class StartMove(NamedTuple):
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
    with doing(f"describe share group {group_id}"):
        known = {group.id for group in await admin.list_groups(types=[SHARE])}
        offsets: dict[TopicPartition, ShareOffset] = {}
        if group_id in known:
            group = await admin.describe_share_group(group_id)
            offsets = await admin.list_share_group_offsets(group_id)
            if group.members:
                raise CommandError(
                    f"Share group {group_id} has {count(len(group.members), 'member')}.",
                    "Stop the members first: their records are in flight.",
                )
    names = list(offsets)
    if topics:
        names = []
        for text in topics:
            topic, chosen = parse_partitions(text, what="--topic")
            partitions = await existing_partitions(admin, topic, chosen)
            names += [TopicPartition(topic, partition) for partition in partitions]
    if not names:
        raise CommandError(
            f"Share group {group_id} has no offsets to move.", "Name the topics with --topic."
        )
    moves = await _moves(admin, position, names, offsets)
    if executes:
        new = {TopicPartition(move.topic, move.partition): move.new for move in moves}
        with doing(f"move the offsets of share group {group_id}"):
            results = await admin.alter_share_group_offsets(group_id, new)
        for name, error in results.failed.items():
            raise refused(f"move the offset of {name}", error)
    _show(terminal, group_id, moves, as_json=as_json)
    if not executes:
        terminal.notice("Nothing was changed. Add --execute to move the offsets.")


async def _moves(
    admin: Admin,
    position: ResetPosition,
    names: Sequence[TopicPartition],
    offsets: Mapping[TopicPartition, ShareOffset],
) -> list[StartMove]:
    moves = []
    for topic in dict.fromkeys(topic for topic, _ in names):
        partitions = [partition for name, partition in names if name == topic]
        earliest = await earliest_offsets(admin, topic, partitions)
        latest = await latest_offsets(admin, topic, partitions)
        found = {}
        if position.place is ResetPlace.TIME:
            found = await offsets_at_time(admin, topic, partitions, position.number)
        for partition in partitions:
            known, at_time = offsets.get(TopicPartition(topic, partition)), found.get(partition)
            old = None if known is None else known.start_offset
            bounds = Bounds(
                earliest[partition],
                latest[partition],
                old,
                None if at_time is None else at_time.offset,
            )
            moves.append(StartMove(topic, partition, old, new_offset(position, bounds)))
    return moves


def _show(terminal: Terminal, group_id: str, moves: Sequence[StartMove], *, as_json: bool) -> None:
    if as_json:
        for move in moves:
            terminal.print_json({"group": group_id, **move._asdict()})
        return
    numbers = ("partition", "from", "to")
    table = new_table("topic", *numbers, right=numbers)
    for move in moves:
        table.add_row(move.topic, str(move.partition), number(move.old), str(move.new))
    terminal.stdout.print(table)
