"""Groups as the commands show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.admin import Admin
from ottla.client.administration.groups import MemberDescription
from ottla.client.errors import GroupIdNotFoundError
from ottla.model import TopicPartition

_GROUPS_NAMED_MAX: Final = 20
_SHARE: Final = "share"
_INNER_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class GroupListing(NamedTuple):
    id: str
    type: str
    state: str


class MemberView(NamedTuple):
    id: str
    instance_id: str | None
    client_id: str
    host: str
    partitions: tuple[TopicPartition, ...]


class GroupView(NamedTuple):
    id: str
    type: str
    state: str
    assignor: str
    coordinator: int | None
    members: tuple[MemberView, ...]


async def list_groups(admin: Admin) -> list[GroupListing]:
    with doing("list the groups"):
        found = await admin.list_groups()
    return [GroupListing(each.id, each.type, word(each.state)) for each in found]


async def describe_group(admin: Admin, group_id: str) -> GroupView:
    with doing(f"describe group {group_id}"):
        try:
            found = await admin.describe_group(group_id)
        except GroupIdNotFoundError:
            raise await unknown_group(admin, group_id) from None
    return GroupView(
        group_id,
        found.type,
        word(found.state),
        found.assignor,
        found.coordinator,
        tuple(map(_member, found.members)),
    )


async def unknown_group(admin: Admin, group_id: str) -> CommandError:
    groups = await list_groups(admin)
    if (group_id, _SHARE) in [(group.id, group.type) for group in groups]:
        return CommandError(
            f"{group_id} is a share group.", f"Run: ottla shares describe {group_id}"
        )
    known = [group.id for group in groups]
    named = ", ".join(known[:_GROUPS_NAMED_MAX])
    hint = f"Existing groups: {named}." if known else "There are no groups."
    return CommandError(f"There is no group {group_id}.", hint)


async def committed_offsets(admin: Admin, group_id: str) -> dict[TopicPartition, int]:
    """By partition, in order; those without an offset are left out."""
    with doing(f"list the offsets of group {group_id}"):
        found = (await admin.list_group_offsets([group_id]))[group_id]
    return {name: each.offset for name, each in found.items()}


async def alter_offsets(admin: Admin, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    with doing(f"move the offsets of group {group_id}"):
        results = await admin.alter_group_offsets(group_id, offsets)
    for name, error in results.failed.items():
        raise refused(f"move the offset of {name}", error)


async def delete_group(admin: Admin, group_id: str) -> None:
    with doing(f"delete group {group_id}"):
        (await admin.delete_groups([group_id])).all()


def word(name: str) -> str:
    """Kafka's word, such as PreparingRebalance, as people write it."""
    return _INNER_CAPITAL.sub("-", name).lower()


def _member(member: MemberDescription) -> MemberView:
    return MemberView(member.id, member.instance_id, member.client_id, member.host, member.assigned)
