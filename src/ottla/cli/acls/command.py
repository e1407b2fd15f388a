"""`ottla acls`: who may do what; commands, options and help."""

from __future__ import annotations

import typer

from ottla.cli.acls.options import (
    AllowHosts,
    AllowPrincipals,
    Cluster,
    Consumer,
    DelegationTokens,
    DenyHosts,
    DenyPrincipals,
    FilterPattern,
    Groups,
    Idempotent,
    Operations,
    Principals,
    Producer,
    StoredPattern,
    Topics,
    TransactionalIds,
    UserPrincipals,
)
from ottla.cli.connection.client_command import EXIT_CODES, Json, Yes, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Add, list and remove ACLs, which say who may do what.",
    epilog=EXIT_CODES,
)


@app.command()
@cluster_command
def add(
    options: ClusterOptions,
    topics: Topics = None,
    groups: Groups = None,
    cluster: Cluster = False,
    transactional_ids: TransactionalIds = None,
    delegation_tokens: DelegationTokens = None,
    user_principals: UserPrincipals = None,
    pattern: StoredPattern = "literal",
    allow_principals: AllowPrincipals = None,
    deny_principals: DenyPrincipals = None,
    allow_hosts: AllowHosts = None,
    deny_hosts: DenyHosts = None,
    operations: Operations = None,
    producer: Producer = False,
    consumer: Consumer = False,
    idempotent: Idempotent = False,
    as_json: Json = False,
) -> None:
    """Add ACLs: one for each resource, principal, host and operation.

    [bold]Examples[/]  ottla acls add --allow-principal User:billing --operation read --topic orders
    ottla acls add --allow-principal User:shop --producer --topic orders
    """
    with client_command() as terminal:
        from ottla.cli.acls.parsed_options import EntryOptions, ResourceOptions
        from ottla.cli.acls.run import add
        from ottla.cli.connection.admin_connection import with_admin

        resources = ResourceOptions(
            topics, groups, cluster, transactional_ids, delegation_tokens, user_principals, pattern
        )
        entries = EntryOptions(
            allow_principals,
            deny_principals,
            allow_hosts,
            deny_hosts,
            operations,
            producer,
            consumer,
            idempotent,
        )
        raise typer.Exit(
            with_admin(
                options,
                terminal,
                lambda admin: add(admin, terminal, resources, entries, as_json=as_json),
            )
        )


@app.command("list")
@cluster_command
def list_(
    options: ClusterOptions,
    topics: Topics = None,
    groups: Groups = None,
    cluster: Cluster = False,
    transactional_ids: TransactionalIds = None,
    delegation_tokens: DelegationTokens = None,
    user_principals: UserPrincipals = None,
    pattern: FilterPattern = "literal",
    principals: Principals = None,
    as_json: Json = False,
) -> None:
    """List ACLs: all, or those of the named resources and principals.

    [bold]Example[/]  ottla acls list --topic orders --resource-pattern-type match
    """
    with client_command() as terminal:
        from ottla.cli.acls.parsed_options import ResourceOptions
        from ottla.cli.acls.run import list_
        from ottla.cli.connection.admin_connection import with_admin

        resources = ResourceOptions(
            topics, groups, cluster, transactional_ids, delegation_tokens, user_principals, pattern
        )
        with_admin(
            options,
            terminal,
            lambda admin: list_(admin, terminal, resources, principals or (), as_json=as_json),
        )


@app.command()
@cluster_command
def remove(
    options: ClusterOptions,
    topics: Topics = None,
    groups: Groups = None,
    cluster: Cluster = False,
    transactional_ids: TransactionalIds = None,
    delegation_tokens: DelegationTokens = None,
    user_principals: UserPrincipals = None,
    pattern: FilterPattern = "literal",
    allow_principals: AllowPrincipals = None,
    deny_principals: DenyPrincipals = None,
    allow_hosts: AllowHosts = None,
    deny_hosts: DenyHosts = None,
    operations: Operations = None,
    producer: Producer = False,
    consumer: Consumer = False,
    idempotent: Idempotent = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Remove the ACLs of the named resources that match the other options.

    [bold]Example[/]  ottla acls remove --allow-principal User:billing --topic orders
    """
    with client_command() as terminal:
        from ottla.cli.acls.parsed_options import EntryOptions, ResourceOptions
        from ottla.cli.acls.run import remove
        from ottla.cli.connection.admin_connection import with_admin

        resources = ResourceOptions(
            topics, groups, cluster, transactional_ids, delegation_tokens, user_principals, pattern
        )
        entries = EntryOptions(
            allow_principals,
            deny_principals,
            allow_hosts,
            deny_hosts,
            operations,
            producer,
            consumer,
            idempotent,
        )
        raise typer.Exit(
            with_admin(
                options,
                terminal,
                lambda admin: remove(
                    admin, terminal, resources, entries, is_confirmed=yes, as_json=as_json
                ),
            )
        )
