"""`ottla quotas`: quotas of users, client ids and addresses; commands, options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import EXIT_CODES, Json, Yes, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="List quotas, show what clients use of them, set and delete them.",
    epilog=EXIT_CODES,
)

User = Annotated[
    str | None, typer.Option("--user", metavar="NAME", help="A user.", show_default=False)
]
ClientId = Annotated[
    str | None, typer.Option("--client-id", metavar="ID", help="A client id.", show_default=False)
]
Ip = Annotated[
    str | None,
    typer.Option("--ip", metavar="ADDRESS", help="An IP address.", show_default=False),
]
DefaultUser = Annotated[
    bool, typer.Option("--default-user", help="All users without a quota of their own.")
]
DefaultClientId = Annotated[
    bool, typer.Option("--default-client-id", help="All client ids without a quota of their own.")
]
DefaultIp = Annotated[
    bool, typer.Option("--default-ip", help="All addresses without a quota of their own.")
]


@app.command("list")
@cluster_command
def list_(
    options: ClusterOptions,
    user: User = None,
    client_id: ClientId = None,
    ip: Ip = None,
    default_user: DefaultUser = False,
    default_client_id: DefaultClientId = False,
    default_ip: DefaultIp = False,
    as_json: Json = False,
) -> None:
    """List all quotas, or those whose entity has the named parts."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.quotas.entity_options import EntityOptions
        from ottla.cli.quotas.run import list_quotas

        entity = EntityOptions.of(
            user, client_id, ip, default_user, default_client_id, default_ip, is_filter=True
        )
        with_admin(
            options, terminal, lambda admin: list_quotas(admin, terminal, entity, as_json=as_json)
        )


@app.command()
@cluster_command
def describe(
    options: ClusterOptions,
    user: User = None,
    client_id: ClientId = None,
    as_json: Json = False,
) -> None:
    """Show what the clients that have a quota use of it now, on each node.

    Each node enforces quotas for itself. A client is shown from its first request on.
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.quotas.run import describe_usage

        with_admin(
            options,
            terminal,
            lambda admin: describe_usage(admin, terminal, user, client_id, as_json=as_json),
        )


@app.command("set")
@cluster_command
def set_(
    options: ClusterOptions,
    quotas: Annotated[list[str], typer.Argument(metavar="KEY=VALUE...", show_default=False)],
    user: User = None,
    client_id: ClientId = None,
    ip: Ip = None,
    default_user: DefaultUser = False,
    default_client_id: DefaultClientId = False,
    default_ip: DefaultIp = False,
    as_json: Json = False,
) -> None:
    r"""Set quotas of a user, a client id, both together, or an address.

    \b
      producer_byte_rate        bytes per second that are produced
      consumer_byte_rate        bytes per second that are fetched
      request_percentage        percent of the time of a node's event loop
      controller_mutation_rate  partitions per second that are created or deleted
      connection_creation_rate  connections per second, of an address
      topics_max                topics that a user created
      partitions_max            partitions of these topics
      groups_max                groups of a user, on each node
      connections_max           connections of a user, to each node
      retained_bytes_max        bytes of a user's topics, on each node that leads them

    Values in bytes take kB, MB and GB.

    [bold]Example[/]  ottla quotas set --user billing producer_byte_rate=10MB
    """
    with client_command() as terminal:
        from ottla.cli.arguments.quota_values import parse_quotas
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.quotas.entity_options import EntityOptions
        from ottla.cli.quotas.run import alter_quotas

        entity = EntityOptions.of(user, client_id, ip, default_user, default_client_id, default_ip)
        values = parse_quotas(quotas)
        with_admin(
            options,
            terminal,
            lambda admin: alter_quotas(admin, terminal, entity, values, as_json=as_json),
        )


@app.command()
@cluster_command
def delete(
    options: ClusterOptions,
    keys: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY...]", show_default=False)
    ] = None,
    user: User = None,
    client_id: ClientId = None,
    ip: Ip = None,
    default_user: DefaultUser = False,
    default_client_id: DefaultClientId = False,
    default_ip: DefaultIp = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete the quotas of an entity: all of them, or those that are named."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.display.confirmation import confirm
        from ottla.cli.quotas.entity_options import EntityOptions
        from ottla.cli.quotas.run import delete_quotas

        entity = EntityOptions.of(user, client_id, ip, default_user, default_client_id, default_ip)
        if not yes:
            confirm(f"Delete {', '.join(keys) if keys else 'all quotas'} of {entity.text}?")
        with_admin(
            options,
            terminal,
            lambda admin: delete_quotas(admin, terminal, entity, keys or (), as_json=as_json),
        )
