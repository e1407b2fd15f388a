"""`ottla pipelines serve` and the commands for supervisors: their options and help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ottla.cli.connection.client_command import Json, Yes, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command
from ottla.cli.pipelines.serve_options import (
    Advertise,
    Authentication,
    Checkpoints,
    Configs,
    Directory,
    Group,
    Listen,
    Logs,
    Master,
    PeerCa,
    StateTopicName,
    TlsCertificate,
    TlsClientCa,
    TlsKey,
    Verbose,
)

if TYPE_CHECKING:
    from ottla.cli.pipelines.supervisor_client import SupervisorClient

_PANEL = "Supervisor"
LOCAL = "local[*]"

Name = Annotated[str, typer.Argument(metavar="NAME", help="A pipeline.", show_default=False)]
Url = Annotated[
    str,
    typer.Option(
        "--supervisor",
        metavar="URL",
        envvar="OTTLA_SUPERVISOR",
        help="URL of any supervisor; may contain a user and a password.",
        rich_help_panel=_PANEL,
    ),
]
Authority = Annotated[
    Path | None,
    typer.Option(
        "--supervisor-ca",
        metavar="FILE",
        help="Authority of the supervisor's certificate, in PEM.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
DEFAULT_URL = "http://127.0.0.1:8083"


def add_to(app: typer.Typer) -> None:
    panel = "Supervised pipelines"
    for command in (
        serve,
        deploy,
        list_,
        status,
        history,
        logs,
        pause,
        resume,
        restart,
        stop,
        remove,
    ):
        app.command(command.__name__.rstrip("_"), rich_help_panel=panel)(command)


@cluster_command
def serve(
    options: ClusterOptions,
    directory: Directory,
    checkpoints: Checkpoints = None,
    logs: Logs = None,
    listen: Listen = "127.0.0.1:8083",
    advertise: Advertise = None,
    topic: StateTopicName = "_ottla-pipelines",
    group: Group = "ottla-pipelines",
    master: Master = LOCAL,
    configs: Configs = None,
    authentication: Authentication = "none",
    tls_certificate: TlsCertificate = None,
    tls_key: TlsKey = None,
    tls_client_ca: TlsClientCa = None,
    peer_ca: PeerCa = None,
    verbose: Verbose = False,
) -> None:
    """Run and monitor pipelines until Ctrl-C or SIGTERM.

    Several supervisors share the pipelines, and take over those of a supervisor that fails.

    [bold]Example[/]  ottla pipelines serve --dir ./pipelines
    """
    with client_command():
        from ottla.cli.pipelines.serve import ServeOptions, run_supervisor

        given = ServeOptions(
            directory,
            checkpoints,
            logs,
            listen,
            advertise,
            topic,
            group,
            master,
            configs or (),
            authentication,
            tls_certificate,
            tls_key,
            tls_client_ca,
            peer_ca,
            verbose,
        )
        run_supervisor(options, given)


def deploy(
    name: Name,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A file in the supervisor's directory of definitions.",
            show_default=False,
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of Spark, such as [cyan]spark.driver.memory=2g[/]; can be repeated.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Only show errors, and whether the checkpoint can be kept."),
    ] = False,
    new_checkpoint: Annotated[
        bool,
        typer.Option(
            "--new-checkpoint",
            help="Begin at the start of all sources, with a new checkpoint.",
        ),
    ] = False,
    url: Url = DEFAULT_URL,
    authority: Authority = None,
) -> None:
    """Deploy a definition as a new pipeline, or as a new version of a pipeline.

    [bold]Example[/]  ottla pipelines deploy delays delays.py
    """
    with client_command() as terminal:
        from ottla.cli.pipelines import supervised

        new = supervised.NewVersion(name, file, settings or (), check, new_checkpoint)
        raise typer.Exit(supervised.deploy(_client(url, authority), terminal, new))


def list_(url: Url = DEFAULT_URL, authority: Authority = None, as_json: Json = False) -> None:
    """List the pipelines, their states, and where they run."""
    with client_command() as terminal:
        from ottla.cli.pipelines.supervised import show_list

        show_list(_client(url, authority), terminal, as_json=as_json)


def status(
    name: Name, url: Url = DEFAULT_URL, authority: Authority = None, as_json: Json = False
) -> None:
    """Show a pipeline's state, the reason of its last failure, and the progress of its queries."""
    with client_command() as terminal:
        from ottla.cli.pipelines.supervised import show_status

        show_status(_client(url, authority), terminal, name, as_json=as_json)


def history(
    name: Name, url: Url = DEFAULT_URL, authority: Authority = None, as_json: Json = False
) -> None:
    """Show a pipeline's last events: versions, starts, failures."""
    with client_command() as terminal:
        from ottla.cli.pipelines.supervised import show_history

        show_history(_client(url, authority), terminal, name, as_json=as_json)


def logs(
    name: Name,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=10_000)] = 100,
    url: Url = DEFAULT_URL,
    authority: Authority = None,
) -> None:
    """Show the end of a pipeline's log."""
    with client_command() as terminal:
        from ottla.cli.pipelines.supervised import show_logs

        show_logs(_client(url, authority), terminal, name, lines)


def pause(name: Name, url: Url = DEFAULT_URL, authority: Authority = None) -> None:
    """End a pipeline's process until it is resumed."""
    _order(name, "pause", url, authority)


def resume(name: Name, url: Url = DEFAULT_URL, authority: Authority = None) -> None:
    """Continue a paused or stopped pipeline where it was."""
    _order(name, "resume", url, authority)


def restart(name: Name, url: Url = DEFAULT_URL, authority: Authority = None) -> None:
    """Restart a pipeline's process, also after the pipeline has failed."""
    _order(name, "restart", url, authority)


def stop(name: Name, url: Url = DEFAULT_URL, authority: Authority = None) -> None:
    """End a pipeline's process until it is resumed, as pause does."""
    _order(name, "stop", url, authority)


def remove(
    name: Name, yes: Yes = False, url: Url = DEFAULT_URL, authority: Authority = None
) -> None:
    """Stop and remove a pipeline. Its checkpoints are kept."""
    with client_command() as terminal:
        from ottla.cli.display.confirmation import confirm
        from ottla.cli.pipelines import supervised

        if not yes:
            confirm(f"Remove the pipeline {name}?")
        supervised.remove(_client(url, authority), terminal, name)


def _order(name: str, what: str, url: str, authority: Path | None) -> None:
    with client_command() as terminal:
        from ottla.cli.pipelines.supervised import order

        order(_client(url, authority), terminal, name, what)


def _client(url: str, authority: Path | None) -> SupervisorClient:
    from ottla.cli.pipelines.supervisor_client import SupervisorClient

    return SupervisorClient(url, None if authority is None else str(authority))
