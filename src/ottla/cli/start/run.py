"""A node on this host: configured, started, and stopped when a signal says so."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import typer

from ottla.broker.host_seams import HostSeams
from ottla.broker.node import Node
from ottla.cli.display.cells import count
from ottla.cli.start.configuring import (
    CONFIGURATION_ERRORS,
    configuration_error_text,
    configure_node,
    has_secrets,
)
from ottla.cli.start.log_lines import log_to_stderr
from ottla.configs import InvalidConfigError, NodeConfig
from ottla.configs.exposure import exposure_warnings, metrics_exposure_warnings
from ottla.configs.near_names import unknown_config_text
from ottla.model import KafkaError
from ottla.runtime.allocator import exclude_present_objects, keep_freed_memory, lasting_objects
from ottla.runtime.background import Background
from ottla.runtime.bounded_disk import BoundedDisk
from ottla.runtime.busy_poll import SystemBusyPoll
from ottla.runtime.dice import SystemDice
from ottla.runtime.exposed_files import warn_if_readable
from ottla.runtime.huge_pages import gather_memory
from ottla.runtime.log_limit import WINDOW_SECONDS, LogLimit
from ottla.runtime.system_background import SystemBackground
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.runtime.system_loop import run
from ottla.runtime.system_network import SystemNetwork
from ottla.storage.errors import DirectoryFailedError, StorageError

_log = logging.getLogger(__name__)

# Of the process's descriptors, half are for logs while that is not more than they profit from.
_LOG_DESCRIPTORS_MAX = 3_000
# Of the rest; what is left then is for directories being synced and files on their way to clients.
_CONNECTIONS_SHARE = 0.75
_DESCRIPTORS_MAX = 1 << 20

_GATHER_SECONDS_FIRST = 5.0
_GATHER_SECONDS_MAX = 600.0

# What a node that is still starting may take to stop.
_STOP_STARTING_SECONDS = 0.5

_CANNOT_START = _FAILED = 1
_WRONG_USAGE = 2


class _NodeFailedError(Exception):
    """The node had no part in the cluster any more, and was stopped. The message says why."""


def run_node(
    *,
    data_dir: Path | None,
    listen: str | None,
    advertise: str | None,
    config: Path | None,
    metrics: str | None,
    settings: list[str],
    verbose: bool,
) -> int:
    """Runs until stopped, and returns the exit code."""
    log_limit = LogLimit(SystemClock())
    try:
        node_config = configure_node(data_dir, listen, advertise, config, metrics, settings)
    except CONFIGURATION_ERRORS as error:
        _say_in_red("Wrong configuration:", configuration_error_text(error))
        return _WRONG_USAGE
    log_to_stderr(log_limit, node_config, verbose=verbose)
    if config is not None and has_secrets(node_config):
        warn_if_readable(str(config), what="secrets in")
    for name in node_config.unknown:
        typer.secho(f"Ignored: {unknown_config_text(name)}", fg="yellow", err=True)
    if without_effect := node_config.without_effect():
        _log.warning("Ottla accepts these settings without effect: %s", ", ".join(without_effect))
    for warning in (*exposure_warnings(node_config), *metrics_exposure_warnings(node_config)):
        _log.warning("%s", warning)
    keep_freed_memory()
    deadline = _Deadline()
    try:
        run(_serve(node_config, deadline, log_limit))
    except _NodeFailedError as error:
        _say_in_red("Stopped:", str(error))
        return _FAILED
    except (StorageError, OSError, InvalidConfigError, KafkaError) as error:
        _say_in_red("Cannot start:", _explained(error, node_config))
        return _CANNOT_START
    finally:
        deadline.cancel()
        log_limit.report()
    return 0


class _Deadline:
    """Ends the process, once set, if it has not ended by itself.

    A worker thread that recovers a log or looks up a name cannot be interrupted, and would be
    waited for. Ending it leaves what a crash leaves, which the next start expects.
    """

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def set(self, seconds: float, *, code: int) -> None:
        self._timer = threading.Timer(seconds, os._exit, [code])
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


async def _serve(config: NodeConfig, deadline: _Deadline, log_limit: LogLimit) -> None:
    clock = SystemClock()
    started = clock.monotonic()
    descriptors = _raise_descriptors()
    log_descriptors = min(descriptors // 2, _LOG_DESCRIPTORS_MAX)
    world = HostSeams(
        disk=BoundedDisk(SystemDisk(), descriptors=log_descriptors),
        clock=clock,
        dice=SystemDice(),
        network=SystemNetwork(),
        background=SystemBackground(),
        busy_poll=SystemBusyPoll(clock.monotonic),
        connections_max=int((descriptors - log_descriptors) * _CONNECTIONS_SHARE),
    )
    stopping = asyncio.Event()
    node = Node(config, world, on_failed=stopping.set)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    counting = loop.create_task(_count_suppressed(clock, log_limit))
    async with _monitored(node, world):
        with lasting_objects():
            has_started = await _start(node, stopping, deadline)
        if has_started:
            took_ms = (clock.monotonic() - started) * 1_000
            _say_ready(node, took_ms)
            gathering = loop.create_task(_gather_memory(clock, world.background))
            await stopping.wait()
            gathering.cancel()
            print("Stopping ...", file=sys.stderr, flush=True)
        failure = node.failure
        if has_started:
            await node.stop()
    counting.cancel()
    if failure is not None:
        raise _NodeFailedError(_failure_text(failure)) from failure


@asynccontextmanager
async def _monitored(node: Node, world: HostSeams) -> AsyncIterator[None]:
    if not node.config.has_metrics:
        yield
        return
    # Imported only by a node whose metrics are read, so that the others start faster.
    from ottla.broker.monitoring.monitoring import monitored

    async with monitored(node, world):
        yield


def _say_ready(node: Node, took_ms: float) -> None:
    where = ", ".join(f"{host}:{port}" for host, port in node.addresses.values())
    print(
        f"Ready on {where} (node {node.config.node_id}, "
        f"cluster {node.broker.cluster.cluster_id}, "
        f"{count(len(node.broker.partitions), 'partition')}, {took_ms:.0f} ms)",
        flush=True,
    )


def _failure_text(failure: BaseException) -> str:
    text = str(failure) or type(failure).__name__
    if isinstance(failure, DirectoryFailedError):
        return text
    return f"its metadata log has failed ({text}); fix the cause and restart the node"


async def _start(node: Node, stopping: asyncio.Event, deadline: _Deadline) -> bool:
    """Whether the node started before it was to stop. One that was still starting is closed."""
    loop = asyncio.get_running_loop()
    starting = loop.create_task(node.start())
    stopped = loop.create_task(stopping.wait())
    await asyncio.wait([starting, stopped], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not starting.done():
        print("Stopping ...", file=sys.stderr, flush=True)
        deadline.set(_STOP_STARTING_SECONDS, code=_FAILED if node.failure else 0)
        starting.cancel()
        with suppress(asyncio.CancelledError):
            await starting
        return False
    starting.result()
    return True


async def _count_suppressed(clock: SystemClock, log_limit: LogLimit) -> None:
    while True:
        await clock.sleep(WINDOW_SECONDS)
        log_limit.report()


async def _gather_memory(clock: SystemClock, background: Background) -> None:
    """Most of what a node uses was loaded with the first requests, and ever less comes after. By
    then the handlers are loaded, too: to collect their objects would hold the loop for 5 to 8 ms.
    """
    seconds = _GATHER_SECONDS_FIRST
    await clock.sleep(seconds)
    exclude_present_objects()
    while True:
        await background.run(gather_memory)
        seconds = min(2 * seconds, _GATHER_SECONDS_MAX)
        await clock.sleep(seconds)


def _say_in_red(title: str, message: str) -> None:
    """Without Rich: importing it takes a tenth of the time in which a node starts."""
    typer.echo(f"{typer.style(title, fg='red', bold=True)} {message}", err=True)


def _raise_descriptors() -> int:
    """Takes all descriptors that the system gives, and returns how many there are."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return _DESCRIPTORS_MAX if hard == resource.RLIM_INFINITY else hard


def _explained(error: Exception, config: NodeConfig) -> str:
    if isinstance(error, InvalidConfigError | KafkaError):
        return error.message
    if isinstance(error, OSError):
        if error.errno == errno.EADDRINUSE:
            ports = ", ".join(str(listener.port) for listener in config.listeners.broker)
            return (
                f"port {ports} is in use; stop the process that listens on it, or choose "
                "another --listen"
            )
        if isinstance(error, BlockingIOError):
            return f"another node is using this data directory ({error.filename})"
        if error.errno == errno.EMFILE:
            return "too many open files; raise the limit with: ulimit -n 65536"
        if error.errno == errno.ENOSPC:
            return f"the disk is full: {error}"
    return str(error)
