"""`ottla groups reset` at work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ottla.cli.arguments.partition_names import parse_partitions
from ottla.cli.connection.cluster_client import ConnectedCluster
from ottla.cli.display.cells import count, number
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError
from ottla.cli.groups.client import alter_offsets, committed_offsets, describe_group, list_groups
from ottla.cli.groups.reset_position import Bounds, ResetPlace, ResetPosition, new_offset


class OffsetMove(NamedTuple):
    topic: str
    partition: int
    old: int | None
    new: int


def run_reset(
    cluster: ConnectedCluster,
    terminal: Terminal,
    group_id: str,
    position: ResetPosition,
    topics: Sequence[str],
    *,
    executes: bool,
    as_json: bool,
) -> None:
    _require_stopped(cluster, group_id)
    committed = committed_offsets(cluster, group_id)
    names = _named(cluster, topics) if topics else list(committed)
    if not names:
        raise CommandError(
            f"Group {group_id} has no offsets to move.", "Name the topics with --topic."
        )
    moves = _moves(cluster, position, names, committed)
    if executes:
        alter_offsets(cluster, group_id, [(move.topic, move.partition, move.new) for move in moves])
    _show(terminal, group_id, moves, as_json=as_json)
    if not executes:
        terminal.notice("Nothing was changed. Add --execute to move the offsets.")


def _require_stopped(cluster: ConnectedCluster, group_id: str) -> None:
    """A group that there is not yet may be given offsets to begin with."""
    if group_id not in {group.id for group in list_groups(cluster)}:
        return
    group = describe_group(cluster, group_id)
    if group.members:
        raise CommandError(
            f"Group {group_id} is {group.state} and has {count(len(group.members), 'member')}.",
            "Stop the members first: they would continue from their own positions.",
        )


def _named(cluster: ConnectedCluster, topics: Sequence[str]) -> list[tuple[str, int]]:
    names = []
    for text in topics:
        topic, chosen = parse_partitions(text, what="--topic")
        names += [(topic, partition) for partition in cluster.partitions(topic, chosen)]
    return names


def _moves(
    cluster: ConnectedCluster,
    position: ResetPosition,
    names: Sequence[tuple[str, int]],
    committed: dict[tuple[str, int], int],
) -> list[OffsetMove]:
    moves = []
    for topic in dict.fromkeys(topic for topic, _ in names):
        partitions = [partition for name, partition in names if name == topic]
        earliest, latest = cluster.earliest(topic, partitions), cluster.latest(topic, partitions)
        found = {}
        if position.place is ResetPlace.TIME:
            found = cluster.at_time(topic, partitions, position.number)
        for partition in partitions:
            old, at_time = committed.get((topic, partition)), found.get(partition)
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
