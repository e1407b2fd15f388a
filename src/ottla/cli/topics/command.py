"""`ottla topics`: its commands, their options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import (
    EXIT_CODES,
    Json,
    Topic,
    Yes,
    client_command,
)
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Create, list, describe, delete and restore topics, add partitions, delete records.",
    epilog=EXIT_CODES,
)

Topics = Annotated[list[str], typer.Argument(metavar="TOPIC", show_default=False)]


_TOPIC_ID: typer.models.OptionInfo = typer.Option(
    "--id",
    metavar="ID",
    help="Id of the deleted topic, if several have this name.",
    show_default=False,
)


@app.command()
@cluster_command
def create(
    options: ClusterOptions,
    topics: Topics,
    partitions: Annotated[
        int | None,
        typer.Option(
            "--partitions",
            "-p",
            min=1,
            metavar="N",
            help="Partitions of each topic; without it the cluster's num.partitions.",
            show_default=False,
        ),
    ] = None,
    replication_factor: Annotated[
        int | None,
        typer.Option(
            "--replication-factor",
            "-r",
            min=1,
            metavar="N",
            help="Replicas of each partition; without it the cluster's default.replication.factor.",
            show_default=False,
        ),
    ] = None,
    configs: Annotated[
        list[str] | None,
        typer.Option(
            "--config",
            "-c",
            metavar="NAME=VALUE",
            help="A config of the topics, such as [cyan]cleanup.policy=compact[/]; can be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="Do not fail if a topic exists already.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Create topics.

    [bold]Example[/]  ottla topics create orders --partitions 3 --config retention.ms=3600000
    """
    with client_command() as terminal:
        from ottla.cli.arguments.name_values import parse_name_values
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.topics.run import NewTopics, create_topics

        new_topics = NewTopics(
            tuple(topics),
            partitions=partitions,
            replication_factor=replication_factor,
            configs=dict(parse_name_values(configs or (), what="--config")),
            if_not_exists=if_not_exists,
        )
        code = with_admin(
            options,
            terminal,
            lambda admin: create_topics(admin, terminal, new_topics, as_json=as_json),
        )
        raise typer.Exit(code)


@app.command("list")
@cluster_command
def list_(
    options: ClusterOptions,
    internal: Annotated[
        bool, typer.Option("--internal", help="Include internal topics: those that begin with __.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the topics of the cluster."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.connection.cluster_access import resolve
        from ottla.cli.topics.run import list_topics

        is_secured = not resolve(options).is_plaintext
        with_admin(
            options,
            terminal,
            lambda admin: list_topics(
                admin, terminal, internal=internal, is_secured=is_secured, as_json=as_json
            ),
        )


@app.command()
@cluster_command
def describe(
    options: ClusterOptions,
    topics: Topics,
    as_json: Json = False,
) -> None:
    """Show the partitions of topics: leaders, replicas, offsets; and the configs that were set."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.topics.run import describe_topics

        with_admin(
            options,
            terminal,
            lambda admin: describe_topics(admin, terminal, topics, as_json=as_json),
        )


@app.command()
@cluster_command
def delete(
    options: ClusterOptions,
    topics: Topics,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete topics with all their records.

    For a day (ottla.delete.retention.ms), `ottla topics undelete` restores them. A topic with
    [cyan]ottla.delete.protection=true[/] is not deleted.
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.topics.run import delete_topics

        code = with_admin(
            options,
            terminal,
            lambda admin: delete_topics(admin, terminal, topics, is_confirmed=yes, as_json=as_json),
        )
        raise typer.Exit(code)


@app.command()
@cluster_command
def deleted(options: ClusterOptions, as_json: Json = False) -> None:
    """List the deleted topics that can be restored, until when, and the size of their replicas."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.topics.deleted import list_deleted

        with_admin(options, terminal, lambda admin: list_deleted(admin, terminal, as_json=as_json))


@app.command()
@cluster_command
def undelete(
    options: ClusterOptions,
    topic: Topic,
    topic_id: Annotated[str | None, _TOPIC_ID] = None,
    new_name: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Name of the restored topic. Default: its earlier name.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Restore a deleted topic with its records, partitions and configs.

    Of several deleted topics of one name, the one that was deleted last. Committed offsets of
    groups are still valid, unless the topic gets another name or there was a new topic of its name.

    [bold]Example[/]  ottla topics undelete orders
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.topics.deleted import undelete as run_undelete

        with_admin(
            options,
            terminal,
            lambda admin: run_undelete(
                admin, terminal, topic, topic_id=topic_id, new_name=new_name, as_json=as_json
            ),
        )


@app.command()
@cluster_command
def purge(
    options: ClusterOptions,
    topics: Topics,
    topic_id: Annotated[str | None, _TOPIC_ID] = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Remove deleted topics with their records, so that they cannot be restored."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.topics.deleted import purge as run_purge

        code = with_admin(
            options,
            terminal,
            lambda admin: run_purge(
                admin, terminal, topics, topic_id=topic_id, is_confirmed=yes, as_json=as_json
            ),
        )
        raise typer.Exit(code)


@app.command("delete-records")
@cluster_command
def delete_records(
    options: ClusterOptions,
    topic: Topic,
    before: Annotated[
        str,
        typer.Option(
            "--before",
            metavar="WHERE",
            help="Delete the records before this: an offset; [cyan]end[/] for all; [cyan]-10[/] "
            "to keep ten in each partition; or a time: [cyan]2026-11-16T08:30[/] (UTC), "
            "[cyan]7d[/] (ago), [cyan]@1794817800000[/] (ms).",
            show_default=False,
        ),
    ],
    partitions: Annotated[
        list[int] | None,
        typer.Option(
            "--partition",
            "-p",
            min=0,
            metavar="N",
            help="Only records of this partition; can be repeated.",
            show_default=False,
        ),
    ] = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete the oldest records of a topic. This cannot be undone.

    [bold]Example[/]  ottla topics delete-records orders --before 7d
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.consume.start_position import parse_start
        from ottla.cli.topics.trim import run_delete_records
        from ottla.runtime.system_clock import SystemClock

        position = parse_start(before, now_ms=SystemClock().now_ms(), option="--before")
        with_admin(
            options,
            terminal,
            lambda admin: run_delete_records(
                admin,
                terminal,
                topic,
                partitions or (),
                position,
                is_confirmed=yes,
                as_json=as_json,
            ),
        )


@app.command()
@cluster_command
def grow(
    options: ClusterOptions,
    topic: Topic,
    partitions: Annotated[
        int,
        typer.Option(
            "--partitions",
            "-p",
            min=1,
            metavar="N",
            help="New number of partitions in total.",
            show_default=False,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Increase the number of partitions of a topic. It cannot be decreased.

    Afterwards, records with a key may go to another partition than before; existing records are not
    moved.
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.topics.run import grow_topic

        with_admin(
            options,
            terminal,
            lambda admin: grow_topic(
                admin, terminal, topic, partitions=partitions, as_json=as_json
            ),
        )
