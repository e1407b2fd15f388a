"""`ottla pipelines`: its commands, their options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import Json, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command
from ottla.cli.connection.trace_options import OtlpEndpointOption, traces_endpoint
from ottla.cli.pipelines.supervisor_commands import add_to

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Check, run and supervise data pipelines on Spark.",
    epilog="[bold]Exit codes[/]  0: done, or stopped by a signal.  1: an error in the pipeline, a "
    "query failed, or the checkpoints are in use.  2: wrong usage, or a package is missing.  "
    "130: a second signal while it was stopping.",
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A Python module.", show_default=False)]
Master = Annotated[
    str,
    typer.Option(
        metavar="URL", help="Spark's master: local[N], or spark://HOST:PORT of a cluster."
    ),
]
Configs = Annotated[
    list[str] | None,
    typer.Option(
        "--conf",
        metavar="NAME=VALUE",
        help="A config of Spark, such as [cyan]spark.jars=driver.jar[/]; can be repeated.",
        show_default=False,
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Show Spark's log and full stack traces here, not in a file."
    ),
]
SparkLog = Annotated[
    Path | None,
    typer.Option(
        "--spark-log",
        metavar="FILE",
        help="File for Spark's log. Default: spark.log in the directory of the checkpoints.",
        show_default=False,
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Name of the pipeline, and prefix of its group ids. Default: the name of the file.",
        show_default=False,
    ),
]
LOCAL = "local[*]"


@app.command()
@cluster_command
def check(
    options: ClusterOptions,
    file: File,
    master: Master = LOCAL,
    configs: Configs = None,
    as_json: Json = False,
    verbose: Verbose = False,
    name: Name = None,
) -> None:
    """Show a pipeline's queries, schemas and errors, without running it.

    [bold]Example[/]  ottla pipelines check delays.py
    """
    with client_command() as terminal:
        from ottla.cli.pipelines.choice import PipelineChoice
        from ottla.cli.pipelines.run import run_check

        choice = PipelineChoice.parse(
            file,
            options=options,
            master=master,
            configs=configs,
            is_verbose=verbose,
            name=name,
        )
        raise typer.Exit(run_check(choice, terminal, as_json=as_json))


@app.command()
@cluster_command
def run(
    options: ClusterOptions,
    file: File,
    once: Annotated[
        bool, typer.Option("--once", help="Process the records that are available, and exit.")
    ] = False,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory of the queries' checkpoints. Default: FILE.checkpoints.",
            show_default=False,
        ),
    ] = None,
    master: Master = LOCAL,
    configs: Configs = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            min=0,
            max=65_535,
            metavar="PORT",
            help="Serve progress to Prometheus, at /metrics on this port.",
            show_default=False,
        ),
    ] = None,
    otlp_endpoint: OtlpEndpointOption = None,
    as_json: Json = False,
    verbose: Verbose = False,
    spark_log: SparkLog = None,
    name: Name = None,
    supervised: Annotated[
        bool, typer.Option("--supervised", hidden=True, help="Run below a supervisor.")
    ] = False,
) -> None:
    """Run a pipeline until it is interrupted. The next run continues exactly where it stopped.

    [bold]Example[/]  ottla pipelines run delays.py --once
    """
    with client_command() as terminal:
        from ottla.cli.pipelines.choice import PipelineChoice
        from ottla.cli.pipelines.run import run_pipeline

        choice = PipelineChoice.parse(
            file,
            options=options,
            master=master,
            configs=configs,
            is_verbose=verbose,
            spark_log=spark_log,
            name=name,
            is_supervised=supervised,
        )
        code = run_pipeline(
            choice,
            terminal,
            checkpoints=checkpoints,
            once=once,
            metrics_port=metrics_port,
            traces=None if otlp_endpoint is None else traces_endpoint(otlp_endpoint),
            as_json=as_json,
        )
        raise typer.Exit(code)


@app.command()
@cluster_command
def redrive(
    options: ClusterOptions,
    topic: Annotated[str, typer.Argument(metavar="REJECTED_TOPIC", show_default=False)],
    target: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="TOPIC",
            help="Send all records to this topic. Default: the topics they came from.",
            show_default=False,
        ),
    ] = None,
    execute: Annotated[
        bool,
        typer.Option(
            "--execute", help="Send the records; without this, only show what would be sent."
        ),
    ] = False,
) -> None:
    """Send rejected records back to the topics they came from, each exactly once.

    [bold]Example[/]  ottla pipelines redrive flights-rejected --execute
    """
    with client_command() as terminal:
        from ottla.cli.connection.cluster_access import resolve
        from ottla.cli.pipelines.redrive import RedriveOptions, run_redrive

        access = resolve(options)
        access.require_files()
        run_redrive(access, terminal, RedriveOptions(topic, target, execute))


add_to(app)
