"""Runs `ottla gateway`."""

from __future__ import annotations

import asyncio
import logging
import signal

from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.gateway.options import GatewayOptions
from ottla.runtime.log_text import LogFormatter
from ottla.runtime.system_loop import run
from ottla.web.gateway.server import GatewaySettings, running_gateway
from ottla.web.service.listening import ListenError

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_gateway(terminal: Terminal, options: ClusterOptions, given: GatewayOptions) -> None:
    """Serves until a signal. Raises CommandError."""
    try:
        access = resolve(options)
        access.require_files()
        settings = given.settings(access)
        _log_to_stderr()
        run(_serve(terminal, settings))
    except ListenError as error:
        raise CommandError(f"Cannot start: {error}.", exit_code=ExitCode.USAGE) from None


async def _serve(terminal: Terminal, settings: GatewaySettings) -> None:
    stopping = asyncio.Event()
    for number in _SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    async with running_gateway(settings) as address:
        scheme = "http" if settings.tls is None else "https"
        bootstrap = settings.properties["bootstrap.servers"]
        terminal.stdout.print(
            f"Ready on {scheme}://{address} (cluster {bootstrap}; {scheme}://{address}/docs)",
            highlight=False,
            soft_wrap=True,
        )
        terminal.stdout.file.flush()
        await stopping.wait()


def _log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter("%(asctime)s %(levelname)-7s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
