"""Checks a definition before it is deployed: `ottla pipelines check FILE --json` in a process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from ottla.web.supervisor.model.deployment import QueryShape
from ottla.web.supervisor.running.child_process import ChildSettings, spark_settings

_TIMEOUT_S: Final = 300.0
_OUTPUT_BYTES_MAX: Final = 4 << 20


class CheckedDefinition(NamedTuple):
    queries: tuple[QueryShape, ...]
    mistakes: tuple[str, ...]


class DefinitionCheck:
    """One check at a time: each one starts Spark."""

    def __init__(self, settings: ChildSettings) -> None:
        self._settings = settings
        self._turn = asyncio.Lock()

    async def check(self, file: Path, name: str, config: Mapping[str, str]) -> CheckedDefinition:
        options = ["--json", "--name", name]
        for setting, value in spark_settings(config).items():
            options += ["--conf", f"{setting}={value}"]
        arguments = (*self._settings.program, "check", str(file), *self._settings.arguments)
        async with self._turn:
            process = await asyncio.create_subprocess_exec(
                *arguments,
                *options,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                async with asyncio.timeout(_TIMEOUT_S):
                    output, errors = await process.communicate()
            except TimeoutError:
                return CheckedDefinition((), (f"the check took longer than {_TIMEOUT_S:.0f} s",))
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
        found = _parsed(output[:_OUTPUT_BYTES_MAX])
        if process.returncode and not found.mistakes:
            text = errors.decode(errors="replace").strip() or "the check failed without a reason"
            return CheckedDefinition(found.queries, tuple(text.splitlines()[-3:]))
        return found


def _parsed(output: bytes) -> CheckedDefinition:
    queries, mistakes = [], []
    for line in output.splitlines():
        with suppress(ValueError):
            fields: Any = json.loads(line)
            if "mistake" in fields:
                mistakes.append(str(fields["mistake"]))
            elif "query" in fields:
                queries.append(
                    QueryShape(
                        fields["query"],
                        fields["sink"],
                        fields["mode"],
                        tuple(fields.get("sources", ())),
                        tuple(fields.get("state", ())),
                    )
                )
    return CheckedDefinition(tuple(queries), tuple(mistakes))
