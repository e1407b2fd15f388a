"""`ottla pipelines check` and `run`: a module loaded, its queries checked and run on Spark."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ottla.cli.connection.bootstrap_addresses import parse_addresses
from ottla.cli.connection.cluster_errors import cannot_connect
from ottla.cli.connection.port_probe import PortProbe
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.pipelines.choice import PipelineChoice
from ottla.cli.pipelines.lease import SupervisedLease
from ottla.cli.pipelines.spark import log_file, running_spark
from ottla.cli.pipelines.stop_signals import StopSignals
from ottla.cli.pipelines.view import ProgressTable, print_graph, print_graph_json
from ottla.pipeline.running.checkpoint_lock import CheckpointInUseError, CheckpointLock
from ottla.runtime.system_clock import sleep_blocking
from ottla.runtime.system_network import SystemNetwork

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ottla.configs.otlp_endpoint import OtlpEndpoint
    from ottla.pipeline.definitions.registry import Registry
    from ottla.pipeline.running.graph import Query
    from ottla.pipeline.running.progress import QueryProgress
    from ottla.pipeline.running.queries import RunningQueries

_LOOK_S: Final = 0.2
_STOPPED: Final = "Stopped; the next run continues from here."
_NOT_STARTED: Final = "Stopped before the first batch."


def run_check(choice: PipelineChoice, terminal: Terminal, *, as_json: bool) -> ExitCode:
    registry = _loaded(choice, terminal)
    with (
        StopSignals() as signals,
        running_spark(choice, terminal, signals, log=log_file(choice, None)) as spark,
    ):
        queries, mistakes = _checked(choice, registry, spark)
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
) -> ExitCode:
    """Raises CommandError if the pipeline has a mistake, or when a query stops by itself."""
    directory = (checkpoints or choice.file.with_suffix(".checkpoints")).absolute()
    pipeline = _PipelineRun(choice, terminal, directory, once=once, as_json=as_json)
    with StopSignals() as signals:
        if choice.is_supervised:
            SupervisedLease(signals).start()
        try:
            pipeline.run(signals, metrics_port, traces)
        except CommandError as error:
            if choice.is_supervised:
                terminal.print_json({"failure": error.message})
            raise
        except KeyboardInterrupt:
            if signals.is_impatient:
                return ExitCode.INTERRUPTED
            terminal.notice(_NOT_STARTED)
    return ExitCode.OK


class _PipelineRun:
    def __init__(
        self,
        choice: PipelineChoice,
        terminal: Terminal,
        directory: Path,
        *,
        once: bool,
        as_json: bool,
    ) -> None:
        self._choice = choice
        self._terminal = terminal
        self._directory = directory
        self._once = once
        self._as_json = as_json

    def run(
        self, signals: StopSignals, metrics_port: int | None, traces: OtlpEndpoint | None
    ) -> None:
        from ottla.pipeline.running.metrics import PipelineMetrics, serving
        from ottla.pipeline.running.traces import exporting_traces

        metrics = PipelineMetrics()
        choice, terminal = self._choice, self._terminal
        registry = _loaded(choice, terminal)
        with ExitStack() as stack:
            lock = stack.enter_context(self._locked())
            log = log_file(choice, self._directory)
            spark = stack.enter_context(
                running_spark(choice, terminal, signals, log=log, inherited=[lock.descriptor])
            )
            queries, mistakes = _checked(choice, registry, spark)
            if mistakes:
                raise CommandError(*mistakes)
            if metrics_port is not None:
                port = stack.enter_context(serving(metrics, metrics_port))
                terminal.notice(f"Metrics are at http://127.0.0.1:{port}/metrics")
            takers = [metrics.take]
            if traces is not None:
                names = [query.name for query in queries]
                takers.append(stack.enter_context(exporting_traces(traces, names)).take)
            table = stack.enter_context(ProgressTable(terminal, as_json=self._as_json))
            signals.defer()
            self._run_queries(queries, signals, table, takers, log)

    @contextmanager
    def _locked(self) -> Iterator[CheckpointLock]:
        try:
            lock = CheckpointLock.take(self._directory, self._choice.file.name)
        except CheckpointInUseError as error:
            raise CommandError(
                f"{str(error)[0].upper()}{str(error)[1:]}.",
                "Stop that pipeline, or name another directory with --checkpoints.",
            ) from None
        except OSError as error:
            raise CommandError(
                f"Cannot use the checkpoints in {self._directory}: {error.strerror}."
            ) from None
        try:
            yield lock
        finally:
            lock.release()

    def _run_queries(
        self,
        queries: list[Query],
        signals: StopSignals,
        table: ProgressTable,
        takers: Sequence[Callable[[QueryProgress], None]],
        log: Path | None,
    ) -> None:
        from pyspark.errors import PySparkException

        from ottla.pipeline.running.graph import first_line
        from ottla.pipeline.running.queries import RunningQueries

        try:
            running = RunningQueries(queries, checkpoints=self._directory, once=self._once)
        except PySparkException as error:
            raise CommandError(f"Spark could not start the queries: {first_line(error)}") from None
        self._watch(running, signals, table, takers, log)
        try:
            running.stop()
        except PySparkException:
            # It takes too long. Java is ended next, and the batch is repeated by the next run.
            return
        finally:
            if signals.is_stopping:
                table.note(_STOPPED)

    def _watch(
        self,
        running: RunningQueries,
        signals: StopSignals,
        table: ProgressTable,
        takers: Sequence[Callable[[QueryProgress], None]],
        log: Path | None,
    ) -> None:
        """Returns when the queries have ended, or are to be stopped."""
        while not signals.is_stopping:
            # In this order: what ends in between is looked at in the next round.
            is_active = running.is_active
            failure = running.failure()
            for progress in running.progress():
                for take in takers:
                    take(progress)
                table.show(asdict(progress))
            if failure is not None:
                if log is None:
                    self._terminal.stderr.out(failure.report)
                where = () if log is None else (f"Spark's log is {log}",)
                raise CommandError(failure.message, *failure.hints, *where)
            if not is_active and not running.is_active:
                return
            sleep_blocking(_LOOK_S)


def _loaded(choice: PipelineChoice, terminal: Terminal) -> Registry:
    from ottla.pipeline.definitions.errors import DefinitionError
    from ottla.pipeline.running.loading import load

    try:
        registry = load(choice.file)
    except DefinitionError as error:
        raise CommandError(f"{error}.") from None
    warn_unreachable(choice.bootstrap, terminal)
    return registry


def _checked(
    choice: PipelineChoice, registry: Registry, spark: SparkSession
) -> tuple[list[Query], list[str]]:
    """The queries and their mistakes."""
    from ottla.pipeline.running.checking import check
    from ottla.pipeline.running.graph import Graph

    graph = Graph(
        registry,
        spark,
        pipeline=choice.name,
        bootstrap=choice.bootstrap,
        security=choice.security,
    )
    return check(graph, registry, spark)


def warn_unreachable(bootstrap: str, terminal: Terminal) -> None:
    """Before Spark starts, which takes a while. Not every pipeline has topics, and a cluster may
    come up meanwhile, so it goes on."""
    addresses = set(parse_addresses(bootstrap))
    reasons = asyncio.run(PortProbe(SystemNetwork()).why_unreachable(addresses))
    if len(reasons) == len(addresses):
        error = cannot_connect(reasons)
        terminal.notice(" ".join((error.message, *error.hints)))
