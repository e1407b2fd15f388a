"""Ottla's own commands, with Kafka's client properties in a file."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ottla.cli.exit_codes import ExitCode
from ottla.configs.java_properties import format_properties
from ottla.model import ErrorCode
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.security.clients import LoginRefusedError, RefusedError, UntrustedError
from tests.conformance.security.logins import Endpoint, Login, kafka_properties
from tests.support.nodes.nodes import OTTLA

_LOGIN: Final = "authentication error"
_CERTIFICATE: Final = "certificate verify failed"


class OttlaCommands:
    """Properties are written below `scratch`."""

    name = "ottla"

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch

    def why_not(self, login: Login) -> str | None:
        """They can do all that a node can."""
        return None

    def produce(self, endpoint: Endpoint, login: Login, topic: str, values: Sequence[str]) -> None:
        lines = "".join(f"{value}\n" for value in values)
        self.run(endpoint, login, "produce", topic, stdin=lines)

    def consume(
        self, endpoint: Endpoint, login: Login, topic: str, group: str, count: int
    ) -> list[str]:
        found = self.run(endpoint, login, "consume", topic, "--group", group, "-n", str(count))
        return found.splitlines()

    def run(self, endpoint: Endpoint, login: Login, *arguments: str, stdin: str = "") -> str:
        """What a command prints that succeeds. Raises as `produce` does."""
        file = self._scratch / f"{login.name}-{endpoint.address.replace(':', '-')}.properties"
        file.write_text(format_properties(kafka_properties(endpoint, login)))
        done = subprocess.run(
            [OTTLA, *arguments, "--command-config", file],
            env={**os.environ, "COLUMNS": "300"},
            input=stdin,
            capture_output=True,
            check=False,
            text=True,
            timeout=TIMEOUT_S,
        )
        if done.returncode:
            raise _error(done.returncode, done.stderr)
        return done.stdout


def _error(exit_code: int, said: str) -> Exception:
    names = [code for code in ErrorCode if code.name in said]
    if names and exit_code == ExitCode.REFUSED:
        return RefusedError(names[0], said)
    if _CERTIFICATE in said:
        return UntrustedError(said)
    if _LOGIN in said:
        return LoginRefusedError(said)
    return AssertionError(f"exit code {exit_code}: {said}")
