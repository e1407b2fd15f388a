"""`ottla configs`: its commands, their options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import (
    EXIT_CODES,
    Json,
    client_command,
)
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Describe, set and delete configs of topics, groups, brokers and client metrics.",
    epilog=EXIT_CODES,
)

TopicOption = Annotated[
    str | None, typer.Option("--topic", "-t", metavar="NAME", help="A topic's configs.")
]
BrokerOption = Annotated[
    int | None, typer.Option("--broker", min=0, metavar="ID", help="A broker's configs.")
]
GroupOption = Annotated[
    str | None,
    typer.Option(
        "--group", "-g", metavar="NAME", help="A group's configs; the group need not exist yet."
    ),
]
ClientMetricsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A subscription to metrics that clients push; it begins with its first config.",
    ),
]


@app.command()
@cluster_command
def describe(
    options: ClusterOptions,
    topic: TopicOption = None,
    broker: BrokerOption = None,
    group: GroupOption = None,
    client_metrics: ClientMetricsOption = None,
    every: Annotated[
        bool, typer.Option("--all", "-a", help="Include configs that have their default values.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show configs with their effective values, and where these come from.

    [bold]Example[/]  ottla configs describe --topic orders --all
    """
    with client_command() as terminal:
        from ottla.cli.configs.run import describe_configs, named_resource
        from ottla.cli.connection.admin_connection import with_admin

        resource = named_resource(
            topic=topic, broker=broker, group=group, client_metrics=client_metrics
        )
        with_admin(
            options,
            terminal,
            lambda admin: describe_configs(admin, terminal, resource, every=every, as_json=as_json),
        )


@app.command("set")
@cluster_command
def set_(
    options: ClusterOptions,
    configs: Annotated[list[str], typer.Argument(metavar="NAME=VALUE", show_default=False)],
    topic: TopicOption = None,
    broker: BrokerOption = None,
    group: GroupOption = None,
    client_metrics: ClientMetricsOption = None,
    as_json: Json = False,
) -> None:
    """Set configs. Either all of them are set or none.

    [bold]Example[/]  ottla configs set --topic orders retention.ms=3600000 cleanup.policy=delete

    [bold]Example[/]  ottla configs set --group billing consumer.session.timeout.ms=50000
    """
    with client_command() as terminal:
        from ottla.cli.arguments.name_values import parse_name_values
        from ottla.cli.configs.run import change_configs, named_resource
        from ottla.cli.connection.admin_connection import with_admin

        to_set = dict(parse_name_values(configs, what="Config"))
        resource = named_resource(
            topic=topic, broker=broker, group=group, client_metrics=client_metrics
        )
        with_admin(
            options,
            terminal,
            lambda admin: change_configs(admin, terminal, resource, to_set=to_set, as_json=as_json),
        )


@app.command()
@cluster_command
def delete(
    options: ClusterOptions,
    names: Annotated[list[str], typer.Argument(metavar="NAME", show_default=False)],
    topic: TopicOption = None,
    broker: BrokerOption = None,
    group: GroupOption = None,
    client_metrics: ClientMetricsOption = None,
    as_json: Json = False,
) -> None:
    """Delete configs, so that their defaults apply again.

    [bold]Example[/]  ottla configs delete --topic orders retention.ms
    """
    with client_command() as terminal:
        from ottla.cli.configs.run import change_configs, named_resource
        from ottla.cli.connection.admin_connection import with_admin

        resource = named_resource(
            topic=topic, broker=broker, group=group, client_metrics=client_metrics
        )
        with_admin(
            options,
            terminal,
            lambda admin: change_configs(
                admin, terminal, resource, to_delete=names, as_json=as_json
            ),
        )
