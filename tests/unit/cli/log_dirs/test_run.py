"""How log directories are shown."""

from __future__ import annotations

from dataclasses import replace

from ottla.cli.log_dirs.run import directories_table, log_dir_json, replicas_table
from ottla.client.administration.log_dirs import LogDir, LogDirReplica
from tests.support.captured_terminal import captured_terminal, said

CURRENT = LogDirReplica("orders", 0, 2_000, 0, is_future=False)
FUTURE = LogDirReplica("orders", 0, 1_000, 7, is_future=True)


def directory(path: str, *replicas: LogDirReplica, error: str | None = None) -> LogDir:
    return LogDir(1, path, error, 5_000_000, 4_000_000, is_cordoned=False, replicas=replicas)


def rows(*directories: LogDir) -> list[list[str]]:
    terminal = captured_terminal()
    terminal.stdout.print(directories_table(directories))
    terminal.stdout.print(replicas_table(directories))
    return [line.split() for line in said(terminal).splitlines()]


def test_a_replica_on_its_way_is_in_two_directories() -> None:
    _, *directories, _, current, future = rows(directory("/a", CURRENT), directory("/b", FUTURE))
    assert [row[0] for row in directories] == ["1", "1"]
    assert current == ["orders", "0", "1", "2.0", "kB", "0", "current", "/a"]
    assert future == ["orders", "0", "1", "1.0", "kB", "7", "future", "/b"]


def test_a_directory_that_failed_says_why() -> None:
    failed = replace(
        directory("/a", error="KAFKA_STORAGE_ERROR"), total_bytes=None, usable_bytes=None
    )
    assert rows(failed)[1] == ["1", "-", "-", "-", "-", "KAFKA_STORAGE_ERROR", "/a"]
    assert log_dir_json(failed)["error"] == "KAFKA_STORAGE_ERROR"
