"""The options of `ottla acls`."""

from __future__ import annotations

from typing import Annotated

import typer

_RESOURCES = "Resources"
_ENTRIES = "Entries"


def _names(option: str, metavar: str, text: str) -> object:
    return typer.Option(
        option, metavar=metavar, help=text, show_default=False, rich_help_panel=_RESOURCES
    )


def _entries(option: str, metavar: str, text: str) -> object:
    return typer.Option(
        option, metavar=metavar, help=text, show_default=False, rich_help_panel=_ENTRIES
    )


Topics = Annotated[
    list[str] | None, _names("--topic", "TOPIC", "A topic; any number. * stands for all topics.")
]
Groups = Annotated[
    list[str] | None, _names("--group", "GROUP", "A group; any number. * stands for all groups.")
]
Cluster = Annotated[
    bool, typer.Option("--cluster", help="The cluster itself.", rich_help_panel=_RESOURCES)
]
TransactionalIds = Annotated[
    list[str] | None, _names("--transactional-id", "ID", "A transactional id; any number.")
]
DelegationTokens = Annotated[
    list[str] | None, _names("--delegation-token", "ID", "A delegation token's id; any number.")
]
UserPrincipals = Annotated[
    list[str] | None,
    _names("--user-principal", "User:NAME", "A user whose delegation tokens are meant."),
]
StoredPattern = Annotated[
    str,
    typer.Option(
        "--resource-pattern-type",
        metavar="literal|prefixed",
        help="Whether the names are whole, or what names begin with.",
        rich_help_panel=_RESOURCES,
    ),
]
FilterPattern = Annotated[
    str,
    typer.Option(
        "--resource-pattern-type",
        metavar="literal|prefixed|any|match",
        help="Which ACLs to find: with whole names, with prefixes, both, or all that apply to a "
        "resource of that name.",
        rich_help_panel=_RESOURCES,
    ),
]
AllowPrincipals = Annotated[
    list[str] | None,
    _entries("--allow-principal", "User:NAME", "Who is allowed; any number. User:* is everyone."),
]
DenyPrincipals = Annotated[
    list[str] | None,
    _entries("--deny-principal", "User:NAME", "Who is denied, whatever is allowed; any number."),
]
AllowHosts = Annotated[
    list[str] | None,
    _entries("--allow-host", "IP", "From where it is allowed; any number. Without it everywhere."),
]
DenyHosts = Annotated[
    list[str] | None,
    _entries("--deny-host", "IP", "From where it is denied; any number. Without it everywhere."),
]
Operations = Annotated[
    list[str] | None,
    _entries("--operation", "OPERATION", "Such as read, write, describe-configs, all; any number."),
]
Principals = Annotated[
    list[str] | None,
    _entries("--principal", "User:NAME", "Only ACLs of this principal; any number."),
]
Producer = Annotated[
    bool,
    typer.Option(
        "--producer",
        help="What a producer needs: write, describe and create on the topics, write and describe "
        "on the transactional ids.",
        rich_help_panel=_ENTRIES,
    ),
]
Consumer = Annotated[
    bool,
    typer.Option(
        "--consumer",
        help="What a consumer needs: read and describe on the topics, read on the groups.",
        rich_help_panel=_ENTRIES,
    ),
]
Idempotent = Annotated[
    bool,
    typer.Option(
        "--idempotent",
        help="With --producer: also idempotent-write on the cluster, for old clusters.",
        rich_help_panel=_ENTRIES,
    ),
]
