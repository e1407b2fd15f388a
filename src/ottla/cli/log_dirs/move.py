"""`ottla log-dirs move` at work (KIP-113)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ottla.cli.arguments.partition_names import parse_partitions
from ottla.cli.connection import cluster_errors
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import unknown_topic
from ottla.cli.display.cells import count
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.log_dirs.client import log_dirs
from ottla.client.administration.admin import Admin
from ottla.client.administration.log_dirs import LogDir
from ottla.model import TopicPartition
from ottla.runtime.system_clock import SystemClock

_LOOK_SECONDS: Final = 0.2


async def move_replicas(
    admin: Admin,
    terminal: Terminal,
    texts: Sequence[str],
    *,
    broker: int,
    path: str,
    wait: bool,
    as_json: bool,
) -> ExitCode:
    """Every replica is tried; the worst of the answers is the exit code."""
    directories = await log_dirs(admin, broker)
    if path not in (each.path for each in directories):
        raise CommandError(
            f"{path} is not a log directory of broker {broker}.",
            f"Its directories are: {', '.join(each.path for each in directories)}.",
            exit_code=ExitCode.USAGE,
        )
    names = _named_replicas(directories, texts, broker)
    refused = await _move(admin, broker, names, path)
    started = [name for name in names if name not in refused]
    if wait:
        await _wait_moved(admin, broker, started, path)
    outcome = "moved" if wait else "started"
    for name in started:
        if as_json:
            terminal.print_json(_fields(name, broker, path) | {"outcome": outcome})
        else:
            terminal.stdout.print(f"{outcome} {name.topic}-{name.partition}", markup=False)
    for name, error in refused.items():
        if as_json:
            fields = {"outcome": "refused", "reason": error.message}
            terminal.print_json(_fields(name, broker, path) | fields)
        terminal.complain(error)
    if started and not wait and not as_json:
        terminal.notice(
            f"{count(len(started), 'replica')} moving; `ottla log-dirs describe` shows "
            "the progress."
        )
    return ExitCode.REFUSED if refused else ExitCode.OK


def _named_replicas(
    directories: Iterable[LogDir], texts: Sequence[str], broker: int
) -> list[TopicPartition]:
    here = {
        TopicPartition(replica.topic, replica.partition)
        for directory in directories
        for replica in directory.replicas
        if not replica.is_future
    }
    topics = {name.topic for name in here}
    names: dict[TopicPartition, None] = {}
    for text in texts:
        topic, partitions = parse_partitions(text, what="Argument")
        if topic not in topics:
            raise unknown_topic(topic, topics)
        chosen = partitions or sorted(name.partition for name in here if name.topic == topic)
        for partition in chosen:
            name = TopicPartition(topic, partition)
            if name not in here:
                raise CommandError(f"Broker {broker} has no replica of {topic}-{partition}.")
            names[name] = None
    return list(names)


async def _move(
    admin: Admin, broker: int, names: Iterable[TopicPartition], path: str
) -> dict[TopicPartition, CommandError]:
    """Starts the moves; returns what was refused."""
    with doing(f"move replicas of broker {broker}"):
        results = await admin.alter_replica_log_dirs(broker, dict.fromkeys(names, path))
    return {
        name: cluster_errors.refused(f"move {name} to {path}", error)
        for name, error in results.failed.items()
    }


async def _wait_moved(
    admin: Admin, broker: int, names: Iterable[TopicPartition], path: str
) -> None:
    left = set(names)
    while left:
        for directory in await log_dirs(admin, broker):
            if directory.path == path:
                if directory.error is not None:
                    raise CommandError(f"{path} of broker {broker} failed: {directory.error}.")
                left -= {
                    TopicPartition(replica.topic, replica.partition)
                    for replica in directory.replicas
                    if not replica.is_future
                }
        if left:
            await SystemClock().sleep(_LOOK_SECONDS)


def _fields(name: TopicPartition, broker: int, path: str) -> dict[str, object]:
    return {
        "topic": name.topic,
        "partition": name.partition,
        "broker": broker,
        "directory": path,
    }
