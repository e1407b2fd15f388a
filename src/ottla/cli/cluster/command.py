"""`ottla cluster`: a cluster of several nodes on this host; its commands, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.cluster.defaults import DEFAULT_DIR, DEFAULT_LISTEN
from ottla.cli.connection.client_command import (
    DEFAULT_INTERVAL_S,
    EXIT_CODES,
    Interval,
    Json,
    Watch,
    client_command,
)
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Run and manage a cluster of several nodes on this host.",
    epilog=EXIT_CODES,
)

DataDir = Annotated[
    Path,
    typer.Option(
        "--data-dir",
        "-d",
        metavar="DIR",
        envvar="OTTLA_CLUSTER_DIR",
        help="The directory of the cluster.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any of Kafka's broker configs, for all nodes of a new cluster.",
        show_default=False,
    ),
]
Secure = Annotated[
    bool,
    typer.Option(
        "--secure",
        help="Secure a new cluster with TLS, SCRAM users and ACLs, and create a profile for its "
        "user admin.",
    ),
]
Web = Annotated[
    bool,
    typer.Option(
        "--web",
        help="Run the schema registry (127.0.0.1:8081) and the HTTP gateway (127.0.0.1:8082) "
        "beside the nodes.",
    ),
]
NodeId = Annotated[int, typer.Argument(metavar="NODE", min=0, show_default=False)]


@app.command()
def up(
    nodes: Annotated[
        int | None,
        typer.Option(
            "--nodes",
            "-n",
            min=1,
            metavar="N",
            help="Number of nodes; default 3.",
            show_default=False,
        ),
    ] = None,
    data_dir: DataDir = DEFAULT_DIR,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Address of the first node; the others use the next ports. Default "
            f"{DEFAULT_LISTEN}. Port 0: any free ports.",
            show_default=False,
        ),
    ] = None,
    advertise: Annotated[
        str | None,
        typer.Option(
            metavar="HOST", help="Host that the nodes advertise to clients.", show_default=False
        ),
    ] = None,
    settings: Settings = None,
    secure: Secure = False,
    web: Web = False,
    detach: Annotated[
        bool,
        typer.Option("--detach", help="Run in the background; return when the cluster is ready."),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart/--no-restart",
            help="Restart nodes that end unexpectedly; not those that kill or stop ended.",
        ),
    ] = True,
) -> None:
    """Start the cluster; create it first if the directory has none.

    With three nodes or more topics have three replicas, of which two acknowledge a write. You can
    edit each node's [cyan]node-N/server.properties[/]; changes apply at its next start. Every node
    is started, including those that [cyan]kill[/] or [cyan]stop[/] ended.

    [bold]Example[/]  ottla cluster up --nodes 3 --data-dir ./cluster --listen 127.0.0.1:9092
    """
    with client_command() as terminal:
        from ottla.cli.cluster.up import find_or_make, run_in_background, run_in_foreground

        layout = find_or_make(
            data_dir,
            nodes=nodes,
            listen=listen,
            advertise=advertise,
            settings=settings or (),
            is_secured=secure,
        )
        if secure:
            from ottla.cli.cluster.local_profile import use_local_profile

            use_local_profile(terminal, layout)
        run = run_in_background if detach else run_in_foreground
        run(terminal, layout, restarts=restart, has_web=web)


@app.command()
def kill(
    node: NodeId,
    signal_name: Annotated[
        str, typer.Option("--signal", "-s", metavar="KILL|TERM|STOP|CONT", help="Signal to send.")
    ] = "KILL",
    data_dir: DataDir = DEFAULT_DIR,
) -> None:
    """Send a signal to a node: KILL ends it at once, STOP pauses it, CONT resumes it.

    A killed node stays down, even with [cyan]up --restart[/], until
    [cyan]ottla cluster restart NODE[/] or the next [cyan]ottla cluster up[/].
    """
    with client_command() as terminal:
        from ottla.cli.cluster.layout import read_layout
        from ottla.cli.cluster.nodes import parse_signal, signal_node

        signal_node(terminal, read_layout(data_dir), node, parse_signal(signal_name))


@app.command()
def stop(node: NodeId, data_dir: DataDir = DEFAULT_DIR) -> None:
    """Stop a node cleanly: other nodes take over its leaderships first.

    It stays down, even with [cyan]up --restart[/], until [cyan]ottla cluster restart NODE[/] or
    the next [cyan]ottla cluster up[/].
    """
    with client_command() as terminal:
        from signal import SIGTERM

        from ottla.cli.cluster.layout import read_layout
        from ottla.cli.cluster.nodes import signal_node

        signal_node(terminal, read_layout(data_dir), node, SIGTERM)


@app.command()
def restart(
    node: NodeId,
    signal_name: Annotated[
        str,
        typer.Option(
            "--signal", "-s", metavar="TERM|KILL", help="Signal that ends the running node."
        ),
    ] = "TERM",
    data_dir: DataDir = DEFAULT_DIR,
) -> None:
    """Restart a node, or start it if it is down; return when it is ready."""
    with client_command() as terminal:
        from ottla.cli.cluster.layout import read_layout
        from ottla.cli.cluster.nodes import parse_signal, restart_node

        number = parse_signal(signal_name, deadly=True)
        restart_node(terminal, read_layout(data_dir), node, number)


@app.command()
def down(data_dir: DataDir = DEFAULT_DIR) -> None:
    """Stop the cluster. Its data stays: [cyan]ottla cluster up[/] starts it again."""
    with client_command() as terminal:
        from ottla.cli.cluster.layout import read_layout
        from ottla.cli.cluster.nodes import take_down

        take_down(terminal, read_layout(data_dir))


@app.command()
@cluster_command
def status(
    options: ClusterOptions,
    data_dir: DataDir = DEFAULT_DIR,
    watch: Watch = False,
    interval: Interval = DEFAULT_INTERVAL_S,
    as_json: Json = False,
) -> None:
    """Show brokers and controllers, which of them lead, and which replicas are behind.

    Shows the cluster in the directory, or the one that --bootstrap or --profile names.

    The exit code is 0 if all is well, 1 if a node or a replica is missing.
    """
    with client_command() as terminal:
        from ottla.cli.cluster.status_run import show_status

        raise typer.Exit(
            show_status(
                terminal,
                data_dir,
                options,
                watch_s=interval if watch else None,
                as_json=as_json,
            )
        )
