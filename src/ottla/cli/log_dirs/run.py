"""`ottla log-dirs describe` at work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.table import Table
from rich.text import Text

from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import unknown_topic
from ottla.cli.display.cells import NOTHING, size
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import ExitCode
from ottla.cli.log_dirs.client import broker_ids, log_dirs
from ottla.client.administration.admin import Admin
from ottla.client.administration.log_dirs import LogDir


async def show_log_dirs(
    admin: Admin,
    terminal: Terminal,
    *,
    brokers: Sequence[int],
    topics: Sequence[str],
    as_json: bool,
) -> ExitCode:
    """The exit code says whether all directories can be used."""
    with doing("list the topics"):
        known = await admin.list_topics()
    for topic in topics:
        if topic not in known:
            raise unknown_topic(topic, known)
    chosen = list(dict.fromkeys(brokers)) or await broker_ids(admin)
    found = [directory for broker in chosen for directory in await log_dirs(admin, broker)]
    shown = [replace(directory, replicas=_chosen(directory, topics)) for directory in found]
    if as_json:
        for directory in shown:
            terminal.print_json(log_dir_json(directory))
    else:
        terminal.stdout.print(directories_table(found))
        if any(directory.replicas for directory in shown):
            terminal.stdout.print()
            terminal.stdout.print(replicas_table(shown))
    is_well = all(directory.error is None for directory in found)
    return ExitCode.OK if is_well else ExitCode.REFUSED


def _chosen(directory: LogDir, topics: Sequence[str]) -> tuple[Any, ...]:
    return tuple(each for each in directory.replicas if not topics or each.topic in topics)


def directories_table(directories: Sequence[LogDir]) -> Table:
    table = new_table(
        *("broker", "replicas", "size", "free", "of", "state", "directory"),
        right=("broker", "replicas", "size", "free", "of"),
    )
    for directory in directories:
        is_well = directory.error is None
        table.add_row(
            str(directory.broker),
            str(len(directory.replicas)) if is_well else NOTHING,
            size(directory.size_in_bytes) if is_well else NOTHING,
            _room(directory.usable_bytes),
            _room(directory.total_bytes),
            Text(_state(directory), style="" if is_well else "red"),
            directory.path,
        )
    return table


def replicas_table(directories: Sequence[LogDir]) -> Table:
    table = new_table(
        *("topic", "partition", "broker", "size", "lag", "replica", "directory"),
        right=("partition", "broker", "size", "lag"),
    )
    rows = [
        (replica.topic, replica.partition, directory.broker, replica, directory.path)
        for directory in directories
        for replica in directory.replicas
    ]
    # A stable sort: a replica on its way to another directory stands behind the current one.
    rows.sort(key=lambda row: (*row[:3], row[3].is_future))
    for topic, partition, broker, replica, path in rows:
        table.add_row(
            topic,
            str(partition),
            str(broker),
            size(replica.size_in_bytes),
            f"{replica.lag:,}",
            "future" if replica.is_future else "current",
            path,
        )
    return table


def log_dir_json(directory: LogDir) -> dict[str, Any]:
    return {
        "broker": directory.broker,
        "directory": directory.path,
        "error": directory.error,
        "total_bytes": directory.total_bytes,
        "usable_bytes": directory.usable_bytes,
        "is_cordoned": directory.is_cordoned,
        "replicas": [
            {
                "topic": replica.topic,
                "partition": replica.partition,
                "bytes": replica.size_in_bytes,
                "lag": replica.lag,
                "is_future": replica.is_future,
            }
            for replica in directory.replicas
        ],
    }


def _state(directory: LogDir) -> str:
    return directory.error or ("cordoned" if directory.is_cordoned else "online")


def _room(amount_in_bytes: int | None) -> str:
    return NOTHING if amount_in_bytes is None else size(amount_in_bytes)
