"""A real PostgreSQL for tests, with a directory and a port of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ottla.runtime.dice import SystemDice
from ottla.runtime.free_ports import free_ports

TIMEOUT_S = 60.0


def reason_unavailable() -> str | None:
    if shutil.which("pg_ctl") is None or shutil.which("initdb") is None:
        return "no pg_ctl and initdb on the PATH: install PostgreSQL (15 or newer)"
    return None


class Postgres:
    """Made over a directory that anybody can get to, then started and stopped as often as one
    likes. It trusts all users on the loopback."""

    def __init__(self, directory: Path) -> None:
        self.port = free_ports(SystemDice(), "127.0.0.1", count=1)[0]
        self.url = f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"
        self._data = directory / "data"
        self._directory = directory
        # It refuses to run as root.
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user is not None:
            shutil.chown(directory, self._user)
        self._run("initdb", "-D", str(self._data), "-U", "ottla", "-A", "trust", "-N")

    def start(self) -> None:
        options = (
            f"-p {self.port} -k {self._directory} -c listen_addresses=127.0.0.1 "
            "-c fsync=off -c wal_level=logical"
        )
        log = str(self._directory / "log.txt")
        self._run("pg_ctl", "-D", str(self._data), "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-w", "-m", "immediate", "stop")

    def sql(self, text: str) -> list[list[str]]:
        address = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "ottla", "-d", "postgres"]
        printed = self._run("psql", *address, "-qAt", "-c", text)
        return [line.split("|") for line in printed.splitlines()]

    def _run(self, *command: str) -> str:
        return _run(command, self._user, self._directory)


def _run(command: Sequence[str], user: str | None, directory: Path) -> str:
    # What stays running would keep a pipe open.
    with (directory / "output.txt").open("w+") as output:
        done = subprocess.run(
            command, stdout=output, stderr=subprocess.STDOUT, user=user, timeout=TIMEOUT_S
        )
        output.seek(0)
        text = output.read()
    assert done.returncode == 0, text
    return text
