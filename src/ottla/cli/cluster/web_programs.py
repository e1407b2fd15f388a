"""What `ottla cluster up --web` runs beside the nodes: the registry and the gateway."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import IO, Final

from ottla.cli.cluster.layout import ClusterLayout
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError

# The order in which they start, and their addresses.
REGISTRY_LISTEN: Final = "127.0.0.1:8081"
GATEWAY_LISTEN: Final = "127.0.0.1:8082"
_END_SECONDS_MAX: Final = 20.0


@asynccontextmanager
async def web_programs(terminal: Terminal, layout: ClusterLayout) -> AsyncIterator[None]:
    """Runs both while the body does its work. Raises CommandError if one does not start. What they
    log is in the directory of the cluster."""
    running: list[asyncio.subprocess.Process] = []
    try:
        for name, options in (
            ("registry", ["--listen", REGISTRY_LISTEN]),
            (
                "gateway",
                ["--listen", GATEWAY_LISTEN, "--schema-registry", f"http://{REGISTRY_LISTEN}"],
            ),
        ):
            running.append(await _start(terminal, layout, name, options))
        yield
    finally:
        for process in running:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
        for process in running:
            try:
                await asyncio.wait_for(process.wait(), _END_SECONDS_MAX)
            except TimeoutError:
                process.kill()


async def _start(
    terminal: Terminal, layout: ClusterLayout, name: str, options: list[str]
) -> asyncio.subprocess.Process:
    config = layout.client_properties_file
    security = ["--command-config", str(config)] if config.exists() else []
    log_file = layout.directory / f"{name}.log"
    with log_file.open("ab") as log:
        process = await _spawn(
            [name, "--bootstrap", layout.bootstrap, *security, *options], log=log
        )
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode().strip()
    if not line:
        await process.wait()
        text = log_file.read_text(errors="replace").strip().splitlines()[-5:]
        raise CommandError(f"Cannot start the {name}:", *text)
    terminal.stdout.print(f"{name}: {line}", highlight=False, soft_wrap=True)
    terminal.stdout.file.flush()
    return process


async def _spawn(arguments: list[str], *, log: IO[bytes]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ottla",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        start_new_session=True,
    )
