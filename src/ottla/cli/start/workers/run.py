"""Runs `ottla start --workers`: the workers of this host under one supervisor."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Final

from ottla.cli.cluster.up import run_in_foreground
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.start.configuring import (
    CONFIGURATION_ERRORS,
    configuration_error_text,
    configure_node,
)
from ottla.cli.start.workers.making import make_workers
from ottla.cli.start.workers.monitoring import monitored_workers
from ottla.cli.start.workers.plan import WORKERS_MAX, plan_workers
from ottla.configs import NodeConfig
from ottla.runtime.network import Address

AUTO: Final = "auto"


def run_workers(
    terminal: Terminal,
    workers: str,
    *,
    data_dir: Path | None,
    listen: str | None,
    advertise: str | None,
    config: Path | None,
    metrics: str | None,
    settings: list[str],
) -> None:
    """Runs until stopped. Raises CommandError."""
    count = _count(workers)
    try:
        node = configure_node(data_dir, listen, advertise, config, metrics, settings)
        plans = plan_workers(node.layers.static, count, host=os.uname().nodename)
    except CONFIGURATION_ERRORS as error:
        text = f"Wrong configuration: {configuration_error_text(error)}"
        raise CommandError(text, exit_code=ExitCode.USAGE) from None
    layout = make_workers(node, plans)
    run_in_foreground(terminal, layout, restarts=True, beside=lambda: _monitored(node, plans))


def _monitored(
    node: NodeConfig, plans: Sequence[Mapping[str, str]]
) -> AbstractAsyncContextManager[None]:
    if node.metrics_listener is None:
        return nullcontext()
    listeners = (NodeConfig.of(plan).metrics_listener for plan in plans)
    workers = [Address(*each) for each in listeners if each is not None]
    return monitored_workers(Address(*node.metrics_listener), workers)


def _count(workers: str) -> int:
    if workers == AUTO:
        return min(len(os.sched_getaffinity(0)), WORKERS_MAX)
    if workers.isdecimal() and 0 < int(workers) <= WORKERS_MAX:
        return int(workers)
    raise CommandError(
        f"--workers {workers} is not a number of workers.",
        f"Give a number from 1 to {WORKERS_MAX}, or {AUTO} for one for each core of this host.",
        exit_code=ExitCode.USAGE,
    )
