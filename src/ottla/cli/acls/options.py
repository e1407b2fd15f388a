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
    list[str] | None,
    _names("--topic", "TOPIC", "A topic; can be repeated. * stands for all topics."),
]
Groups = Annotated[
    list[str] | None,
    _names("--group", "GROUP", "A group; can be repeated. * stands for all groups."),
]
Cluster = Annotated[
    bool, typer.Option("--cluster", help="The cluster itself.", rich_help_panel=_RESOURCES)
]
TransactionalIds = Annotated[
    list[str] | None, _names("--transactional-id", "ID", "A transactional id; can be repeated.")
]
DelegationTokens = Annotated[
    list[str] | None,
    _names("--delegation-token", "ID", "Id of a delegation token; can be repeated."),
]
UserPrincipals = Annotated[
    list[str] | None,
    _names(
        "--user-principal",
        "User:NAME",
        "A user, for the right to the delegation tokens of that user; can be repeated.",
    ),
]
StoredPattern = Annotated[
    str,
    typer.Option(
        "--resource-pattern-type",
        metavar="literal|prefixed",
        help="literal: names as given. prefixed: all names that begin with those given.",
        rich_help_panel=_RESOURCES,
    ),
]
FilterPattern = Annotated[
    str,
    typer.Option(
        "--resource-pattern-type",
        metavar="literal|prefixed|any|match",
        help="literal: ACLs for exactly this name. prefixed: ACLs for exactly this prefix. any: "
        "both. match: all ACLs that apply to a resource of this name.",
        rich_help_panel=_RESOURCES,
    ),
]
AllowPrincipals = Annotated[
    list[str] | None,
    _entries(
        "--allow-principal",
        "User:NAME",
        "Principal that is allowed; can be repeated. User:* is everyone.",
    ),
]
DenyPrincipals = Annotated[
    list[str] | None,
    _entries(
        "--deny-principal",
        "User:NAME",
        "Principal that is denied, even if another ACL allows it; can be repeated.",
    ),
]
AllowHosts = Annotated[
    list[str] | None,
    _entries("--allow-host", "IP", "Host that is allowed; can be repeated. Default: all hosts."),
]
DenyHosts = Annotated[
    list[str] | None,
    _entries("--deny-host", "IP", "Host that is denied; can be repeated. Default: all hosts."),
]
Operations = Annotated[
    list[str] | None,
    _entries(
        "--operation", "OPERATION", "Such as read, write, describe-configs, all; can be repeated."
    ),
]
Principals = Annotated[
    list[str] | None,
    _entries("--principal", "User:NAME", "Only ACLs of this principal; can be repeated."),
]
Producer = Annotated[
    bool,
    typer.Option(
        "--producer",
        help="The operations that a producer needs: write, describe and create on the topics, "
        "write and describe on the transactional ids.",
        rich_help_panel=_ENTRIES,
    ),
]
Consumer = Annotated[
    bool,
    typer.Option(
        "--consumer",
        help="The operations that a consumer needs: read and describe on the topics, read on the "
        "groups.",
        rich_help_panel=_ENTRIES,
    ),
]
Idempotent = Annotated[
    bool,
    typer.Option(
        "--idempotent",
        help="With --producer: also idempotent-write on the cluster, for clusters before Kafka "
        "3.0.",
        rich_help_panel=_ENTRIES,
    ),
]
