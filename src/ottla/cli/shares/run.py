"""`ottla shares list`, `describe` and `delete` at work."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.connection.admin_connection import doing
from ottla.cli.display.cells import count, number
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.admin import Admin
from ottla.client.administration.groups import GroupDescription
from ottla.client.administration.share_groups import SHARE, ShareOffset
from ottla.client.errors import GroupIdNotFoundError
from ottla.model import TopicPartition

_GROUPS_NAMED_MAX = 20


async def run_list(admin: Admin, terminal: Terminal, *, as_json: bool) -> None:
    with doing("list the share groups"):
        groups = await admin.list_groups(types=[SHARE])
    table = new_table("group", "state")
    for group in groups:
        if as_json:
            terminal.print_json({"id": group.id, "state": group.state.lower()})
        table.add_row(group.id, group.state.lower())
    if not as_json:
        terminal.stdout.print(table)


async def run_describe(
    admin: Admin, terminal: Terminal, group_id: str, *, shows_members: bool, as_json: bool
) -> None:
    group = await describe_share(admin, group_id)
    if shows_members:
        _show_members(terminal, group, as_json=as_json)
        return
    with doing(f"list the offsets of share group {group_id}"):
        offsets = await admin.list_share_group_offsets(group_id)
    _show_offsets(terminal, group, offsets, as_json=as_json)


async def describe_share(admin: Admin, group_id: str) -> GroupDescription:
    with doing(f"describe share group {group_id}"):
        try:
            return await admin.describe_share_group(group_id)
        except GroupIdNotFoundError:
            known = [group.id for group in await admin.list_groups(types=[SHARE])]
    named = ", ".join(known[:_GROUPS_NAMED_MAX])
    hint = f"Existing share groups: {named}." if known else "There are no share groups."
    raise CommandError(f"There is no share group {group_id}.", hint)


async def run_delete(admin: Admin, terminal: Terminal, groups: Sequence[str]) -> None:
    for group_id in groups:
        await describe_share(admin, group_id)
        with doing(f"delete share group {group_id}"):
            (await admin.delete_groups([group_id])).all()
        terminal.stdout.print(f"Deleted share group {group_id}.", highlight=False)


def _show_offsets(
    terminal: Terminal,
    group: GroupDescription,
    offsets: dict[TopicPartition, ShareOffset],
    *,
    as_json: bool,
) -> None:
    if as_json:
        for name, each in offsets.items():
            terminal.print_json({"group": group.id, **name._asdict(), **each._asdict()})
        return
    _show_head(terminal, group)
    numbers = ("partition", "start", "lag")
    table = new_table("topic", *numbers, right=numbers)
    for name, each in offsets.items():
        table.add_row(name.topic, str(name.partition), number(each.start_offset), number(each.lag))
    terminal.stdout.print(table)


def _show_members(terminal: Terminal, group: GroupDescription, *, as_json: bool) -> None:
    if as_json:
        for member in group.members:
            terminal.print_json(
                {
                    "group": group.id,
                    "id": member.id,
                    "client_id": member.client_id,
                    "host": member.host,
                    "partitions": [str(name) for name in member.assigned],
                }
            )
        return
    _show_head(terminal, group)
    table = new_table("member", "client", "host", "partitions")
    for member in group.members:
        names = " ".join(map(str, member.assigned))
        table.add_row(member.id, member.client_id, member.host, names)
    terminal.stdout.print(table)


def _show_head(terminal: Terminal, group: GroupDescription) -> None:
    members = count(len(group.members), "member")
    terminal.stdout.print(
        f"{group.id}: {group.state.lower()}, {members}, coordinator {group.coordinator}",
        highlight=False,
    )
