"""`ottla groups list`, `describe` and `delete` at work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rich.table import Table

from ottla.cli.connection.topic_lookup import latest_offsets
from ottla.cli.display.cells import NOTHING, count, number
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.groups.client import (
    GroupView,
    committed_offsets,
    delete_group,
    describe_group,
    list_groups,
)
from ottla.client.administration.admin import Admin
from ottla.model import TopicPartition
from ottla.runtime.system_clock import SystemClock


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


async def run_list(
    admin: Admin,
    terminal: Terminal,
    *,
    states: Sequence[str],
    types: Sequence[str],
    as_json: bool,
) -> None:
    selected = [
        group
        for group in await list_groups(admin)
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


async def run_describe(
    admin: Admin,
    terminal: Terminal,
    group_id: str,
    *,
    shows_members: bool,
    watch_s: float | None,
    as_json: bool,
) -> None:
    """With `watch_s` until Ctrl-C."""
    while True:
        group = await describe_group(admin, group_id)
        if shows_members:
            _show_members(terminal, group, as_json=as_json)
        else:
            _show_lag(terminal, group, await group_lag(admin, group), as_json=as_json)
        if watch_s is None:
            return
        terminal.stdout.file.flush()
        await SystemClock().sleep(watch_s)


async def group_lag(admin: Admin, group: GroupView) -> list[PartitionLag]:
    """Every partition that the group has an offset in, or a member reads."""
    committed = await committed_offsets(admin, group.id)
    owners = {name: member.id for member in group.members for name in member.partitions}
    names = sorted({*committed, *owners})
    existing = await admin.list_topics()
    by_topic: dict[str, list[int]] = {}
    for topic, partition in names:
        if topic in existing:
            by_topic.setdefault(topic, []).append(partition)
    ends = {
        TopicPartition(topic, partition): end
        for topic, partitions in by_topic.items()
        for partition, end in (await latest_offsets(admin, topic, partitions)).items()
    }
    return [
        PartitionLag(*name, committed.get(name), ends.get(name), owners.get(name)) for name in names
    ]


async def run_delete(admin: Admin, terminal: Terminal, groups: Sequence[str]) -> None:
    for group_id in groups:
        await delete_group(admin, group_id)
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
