"""Groups that a command does not find, and how their states are written."""

from __future__ import annotations

import asyncio

import pytest

from ottla.cli.exit_codes import CommandError
from ottla.cli.groups.client import describe_group, word
from ottla.client.administration import GroupDescription, ListedGroup
from ottla.client.administration.requests import node_error
from ottla.model import ErrorCode


class FakeAdmin:
    """Has a group of consumers and a share group, neither of which it describes."""

    async def list_groups(self) -> list[ListedGroup]:
        return [
            ListedGroup("billing", "consumer", "Stable", "consumer", 1),
            ListedGroup("work", "share", "Stable", "share", 1),
        ]

    async def describe_group(self, group_id: str) -> GroupDescription:
        raise node_error(ErrorCode.GROUP_ID_NOT_FOUND)


def complaint(group_id: str) -> CommandError:
    with pytest.raises(CommandError) as raised:
        asyncio.run(describe_group(FakeAdmin(), group_id))  # type: ignore[arg-type]
    return raised.value


def test_a_group_that_does_not_exist_comes_with_those_that_do() -> None:
    error = complaint("biling")
    assert error.message == "There is no group biling."
    assert error.hints == ("Existing groups: billing, work.",)


def test_a_share_group_has_commands_of_its_own() -> None:
    error = complaint("work")
    assert error.message == "work is a share group."
    assert error.hints == ("Run: ottla shares describe work",)


def test_states_are_written_in_words() -> None:
    assert [word(name) for name in ("Stable", "PreparingRebalance", "")] == [
        "stable",
        "preparing-rebalance",
        "",
    ]
