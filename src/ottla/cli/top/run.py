"""Runs `ottla top`, once or repeatedly."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Final

from rich.live import Live

from ottla.cli.connection.admin_connection import connected_admin
from ottla.cli.connection.bootstrap_addresses import join_addresses, parse_addresses
from ottla.cli.connection.cluster_access import ClusterAccess, resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.port_probe import PortProbe
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.top.brokers import BrokerList, ListedCluster
from ottla.cli.top.round import FetchCluster, Overview, Rounds
from ottla.cli.top.scrape import scrape
from ottla.cli.top.view import overview_json, overview_view
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork

SCRAPE_SECONDS_MAX: Final = 2.0


def run_top(
    terminal: Terminal,
    options: ClusterOptions,
    *,
    metrics: str | None,
    once: bool,
    interval_s: float,
    as_json: bool,
) -> ExitCode:
    """Raises CommandError if nothing answers at all in the only round."""
    rounds = _rounds(options, metrics)
    if once:
        return asyncio.run(_measure_once(terminal, rounds, interval_s, as_json=as_json))
    with suppress(KeyboardInterrupt):
        asyncio.run(_repeat(terminal, rounds, interval_s, as_json=as_json))
    return ExitCode.OK


def _rounds(options: ClusterOptions, metrics: str | None) -> Rounds:
    scrape_page = partial(scrape, SystemNetwork(), seconds_max=SCRAPE_SECONDS_MAX)
    if metrics is not None:
        return Rounds(SystemClock(), scrape_page, addresses=parse_addresses(metrics))
    return Rounds(SystemClock(), scrape_page, fetch_cluster=_fetching(resolve(options)))


def _fetching(access: ClusterAccess) -> FetchCluster:
    """Connects anew each time, to the node that answers first: the last one may be gone."""
    brokers, probe = BrokerList(), PortProbe(SystemNetwork())

    async def fetch() -> ListedCluster:
        known = tuple(dict.fromkeys((*access.addresses, *brokers.addresses)))
        anywhere = replace(access, bootstrap=join_addresses(known))
        async with connected_admin(anywhere, probe) as (admin, _):
            return await brokers.fetch(admin)

    return fetch


async def _measure_once(
    terminal: Terminal, rounds: Rounds, interval_s: float, *, as_json: bool
) -> ExitCode:
    await rounds.run()
    await SystemClock().sleep(interval_s)
    overview = await rounds.run()
    if not overview.is_anything_known:
        raise _nothing_answers(overview)
    _print(terminal, overview, as_json=as_json)
    return ExitCode.OK


async def _repeat(terminal: Terminal, rounds: Rounds, interval_s: float, *, as_json: bool) -> None:
    """Until Ctrl-C, also while nothing answers."""
    clock = SystemClock()
    is_live = terminal.stdout.is_terminal and not as_json
    with (
        Live(console=terminal.stdout, auto_refresh=False, screen=True)
        if is_live
        else nullcontext() as live
    ):
        while True:
            overview = await rounds.run()
            if live is None:
                _print(terminal, overview, as_json=as_json)
            else:
                live.update(overview_view(overview), refresh=True)
            await clock.sleep(interval_s)


def _print(terminal: Terminal, overview: Overview, *, as_json: bool) -> None:
    if as_json:
        terminal.print_json(overview_json(overview))
    else:
        terminal.stdout.print(overview_view(overview))
    terminal.stdout.file.flush()


def _nothing_answers(overview: Overview) -> CommandError:
    reasons = [row.reason for row in overview.nodes if row.reason is not None]
    problem = overview.problem or "; ".join(reasons) or "The cluster has no brokers"
    return CommandError(
        f"Nothing answers: {problem.rstrip('.')}.",
        "Name a broker with --bootstrap HOST:PORT, or the addresses where nodes serve metrics "
        "(`ottla start --metrics`) with --metrics HOST:PORT,HOST:PORT.",
        exit_code=ExitCode.UNREACHABLE,
    )
