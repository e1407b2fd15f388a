"""`ottla groups list`, `describe` and `delete` at work."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from rich.table import Table

from ottla.cli.connection.cluster_client import ConnectedCluster
from ottla.cli.display.cells import NOTHING, count, number
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.groups.client import (
    GroupView,
    committed_offsets,
    delete_group,
    describe_group,
    list_groups,
)
from ottla.runtime.system_clock import sleep_blocking


class PartitionLag(NamedTuple):
    topic: str
    partition: int
    # None if nothing was committed.
    committed: int | None
    end: int | None
    member_id: str | None

    @property
    def lag(self) -> int | None:
        if self.committed is None or self.end is None:
            return None
        return max(self.end - self.committed, 0)


def run_list(
    cluster: ConnectedCluster,
    terminal: Terminal,
    *,
    states: Sequence[str],
    types: Sequence[str],
    as_json: bool,
) -> None:
    selected = [
        group
        for group in list_groups(cluster)
        if (not states or group.state in _words(states))
        and (not types or group.type in _words(types))
    ]
    if as_json:
        for group in selected:
            terminal.print_json(group._asdict())
        return
    table = new_table("group", "type", "state")
    for group in selected:
        table.add_row(group.id, group.type, group.state)
    terminal.stdout.print(table)


def run_describe(
    cluster: ConnectedCluster,
    terminal: Terminal,
    group_id: str,
    *,
    shows_members: bool,
    watch_s: float | None,
    as_json: bool,
) -> None:
    def show() -> None:
        group = describe_group(cluster, group_id)
        if shows_members:
            _show_members(terminal, group, as_json=as_json)
        else:
            _show_lag(terminal, group, group_lag(cluster, group), as_json=as_json)

    show()
    if watch_s is None:
        return
    with suppress(KeyboardInterrupt):
        while True:
            terminal.stdout.file.flush()
            sleep_blocking(watch_s)
            show()


def group_lag(cluster: ConnectedCluster, group: GroupView) -> list[PartitionLag]:
    """Every partition that the group has an offset in, or a member reads."""
    committed = committed_offsets(cluster, group.id)
    owners = {name: member.id for member in group.members for name in member.partitions}
    names = sorted({*committed, *owners})
    by_topic: dict[str, list[int]] = {}
    for topic, partition in names:
        if topic in cluster.metadata.topics:
            by_topic.setdefault(topic, []).append(partition)
    ends = {
        (topic, partition): end
        for topic, partitions in by_topic.items()
        for partition, end in cluster.latest(topic, partitions).items()
    }
    return [
        PartitionLag(*name, committed.get(name), ends.get(name), owners.get(name)) for name in names
    ]


def run_delete(cluster: ConnectedCluster, terminal: Terminal, groups: Sequence[str]) -> None:
    for group_id in groups:
        delete_group(cluster, group_id)
        terminal.stdout.print(f"Deleted group {group_id}.")


def _show_lag(
    terminal: Terminal, group: GroupView, rows: Sequence[PartitionLag], *, as_json: bool
) -> None:
    if as_json:
        for row in rows:
            terminal.print_json({"group": group.id, **row._asdict(), "lag": row.lag})
        return
    terminal.stdout.print(_heading(group))
    terminal.stdout.print(lag_table(rows))


def lag_table(rows: Sequence[PartitionLag]) -> Table:
    numbers = ("partition", "committed", "end", "lag")
    table = new_table("topic", *numbers, "member", right=numbers)
    for row in rows:
        lag = NOTHING if row.lag is None else f"{row.lag:,}"
        cells = (str(row.partition), number(row.committed), number(row.end), lag)
        table.add_row(row.topic, *cells, row.member_id or NOTHING)
    if len(rows) > 1:
        total = sum(row.lag or 0 for row in rows)
        table.add_row("all", "", "", "", f"{total:,}", "", style="dim")
    return table


def _show_members(terminal: Terminal, group: GroupView, *, as_json: bool) -> None:
    if as_json:
        for member in group.members:
            fields: dict[str, Any] = {"group": group.id, **member._asdict()}
            terminal.print_json(fields)
        return
    terminal.stdout.print(_heading(group))
    table = new_table("member", "instance", "client", "host", "partitions")
    for member in group.members:
        reads = " ".join(f"{topic}-{partition}" for topic, partition in member.partitions)
        table.add_row(
            member.id,
            member.instance_id or NOTHING,
            member.client_id,
            member.host,
            reads or NOTHING,
        )
    terminal.stdout.print(table)


def _heading(group: GroupView) -> str:
    parts = [f"{group.id}: {group.state}", group.type, count(len(group.members), "member")]
    if group.assignor:
        parts.append(f"assignor {group.assignor}")
    if group.coordinator is not None:
        parts.append(f"coordinator {group.coordinator}")
    return ", ".join(parts)


def _words(texts: Sequence[str]) -> set[str]:
    return {text.lower().replace("_", "-") for text in texts}
