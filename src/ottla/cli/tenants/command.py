"""`ottla tenants`: clusters of their own within a cluster; commands, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import EXIT_CODES, Json, Yes, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Create tenants with users, rights, quotas and limits; list, describe and delete them.",
    epilog=EXIT_CODES,
)

Tenant = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]


def _limit(name: str, text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        f"--{name}-max", metavar="N", min=0, help=text, show_default=False
    )
    return option


@app.command()
@cluster_command
def create(
    options: ClusterOptions,
    tenant: Tenant,
    user: Annotated[
        str,
        typer.Option("--user", metavar="USER", help="The tenant's first user, as NAME.USER."),
    ] = "admin",
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file",
            metavar="FILE",
            help="File with the user's password as its only line; - is standard input. Without it, "
            "no password is set.",
            show_default=False,
        ),
    ] = None,
    quotas: Annotated[
        list[str] | None,
        typer.Option(
            "--quota",
            metavar="KEY=VALUE",
            help="Quota of the user, as for `ottla quotas set`; can be repeated.",
            show_default=False,
        ),
    ] = None,
    topics: Annotated[int | None, _limit("topics", "Most topics.")] = None,
    partitions: Annotated[int | None, _limit("partitions", "Most partitions.")] = None,
    groups: Annotated[int | None, _limit("groups", "Most groups on a node.")] = None,
    connections: Annotated[int | None, _limit("connections", "Most connections to a node.")] = None,
    retained_bytes: Annotated[
        int | None, _limit("retained-bytes", "Most bytes in the partitions that a node leads.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a tenant: its prefix, a user with all rights on it, quotas and limits.

    Its clients connect to a listener of ottla.tenant.listeners, where they see only what the tenant
    has, without the prefix. For a tenant that exists, this changes its limits and adds the user.

    [bold]Example[/]  ottla tenants create acme --quota producer_byte_rate=10MB --partitions-max 100
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.tenants.new_tenant import NewTenant
        from ottla.cli.tenants.run import create_tenant

        limits = (topics, partitions, groups, connections, retained_bytes)
        new = NewTenant.of(tenant, user, password_file, quotas or (), limits)
        with_admin(
            options, terminal, lambda admin: create_tenant(admin, terminal, new, as_json=as_json)
        )


@app.command("list")
@cluster_command
def list_(options: ClusterOptions, as_json: Json = False) -> None:
    """List the tenants and their limits."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.tenants.run import list_tenants

        with_admin(options, terminal, lambda admin: list_tenants(admin, terminal, as_json=as_json))


@app.command()
@cluster_command
def describe(options: ClusterOptions, tenant: Tenant, as_json: Json = False) -> None:
    """Show what a tenant has, beside its limits, and its users."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.tenants.run import describe_tenant

        with_admin(
            options,
            terminal,
            lambda admin: describe_tenant(admin, terminal, tenant, as_json=as_json),
        )


@app.command()
@cluster_command
def delete(
    options: ClusterOptions,
    tenant: Tenant,
    with_topics: Annotated[
        bool, typer.Option("--with-topics", help="Delete the tenant's topics, too.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete a tenant: its users, their rights and quotas, and its limits.

    A tenant that has topics is deleted only with --with-topics.
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.display.confirmation import confirm
        from ottla.cli.tenants.run import delete_tenant

        if not yes:
            confirm(f"Delete tenant {tenant}{' with all its topics' if with_topics else ''}?")
        with_admin(
            options,
            terminal,
            lambda admin: delete_tenant(
                admin, terminal, tenant, with_topics=with_topics, as_json=as_json
            ),
        )
