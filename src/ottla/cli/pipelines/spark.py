"""Spark for a command: started with its log in a file, and ended whatever happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError
from ottla.cli.pipelines.choice import PipelineChoice
from ottla.cli.pipelines.stop_signals import StopSignals
from ottla.pipeline.running.cache_directory import cache_directory
from ottla.pipeline.running.class_archive import ClassArchive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def prepare_spark(console: Console, java: Path) -> ClassArchive:
    """Finds the archive of Java classes with which Spark starts in half the time, or creates it."""
    archive = ClassArchive.of(java)
    if not archive.is_settled:
        console.print("Preparing Spark for quick starts; this takes half a minute, once.")
        archive.make()
    return archive


def log_file(choice: PipelineChoice, directory: Path | None) -> Path | None:
    """Where Spark's log goes; None for standard error."""
    if choice.is_verbose:
        return None
    file = choice.spark_log or (directory or cache_directory() / "logs" / choice.name).joinpath(
        "spark.log"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.absolute()


@contextmanager
def running_spark(
    choice: PipelineChoice,
    terminal: Terminal,
    signals: StopSignals,
    *,
    log: Path | None,
    inherited: Sequence[int] = (),
) -> Iterator[SparkSession]:
    """Raises CommandError if Spark does not start, or ends by itself. Afterwards Java has ended."""
    from ottla.pipeline.running.session import end_java, start_session

    archive = prepare_spark(terminal.stderr, choice.java)
    try:
        with _explained(log):
            with terminal.stderr.status("Starting Spark ..."):
                spark = start_session(
                    choice.name,
                    master=choice.master,
                    configs=choice.configs,
                    java_options=archive.options,
                    log=log,
                    inherited=inherited,
                )
                signals.listen_again()
            yield spark
            # All queries have ended, so errors while Spark stops lose nothing.
            with suppress(Exception):
                spark.stop()
    finally:
        end_java()


@contextmanager
def _explained(log: Path | None) -> Iterator[None]:
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    from ottla.pipeline.running.graph import first_line
    from ottla.pipeline.running.spark_log import cause_in

    hints = () if log is None else (f"Spark's log is {log}",)
    try:
        yield
    except PySparkException as error:
        cause = cause_in(log) if "JAVA_GATEWAY_EXITED" in str(error) else None
        raise CommandError(f"Spark failed: {cause or first_line(error)}", *hints) from None
    except Py4JJavaError as error:
        text = str(error.java_exception.toString()).partition("\n")[0]
        raise CommandError(f"Spark failed: {text}", *hints) from None
    except (Py4JError, ConnectionError, EOFError):
        cause = cause_in(log)
        reason = f": {cause}" if cause else ", or was killed"
        raise CommandError(f"Spark's process has ended{reason}.", *hints) from None
