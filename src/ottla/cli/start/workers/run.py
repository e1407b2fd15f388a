"""Runs `ottla start --workers`: the workers of this host under one supervisor."""

from __future__ import annotations

import os
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
from ottla.cli.start.workers.plan import WORKERS_MAX, plan_workers

AUTO: Final = "auto"


def run_workers(
    terminal: Terminal,
    workers: str,
    *,
    data_dir: Path | None,
    listen: str | None,
    advertise: str | None,
    config: Path | None,
    settings: list[str],
) -> None:
    """Runs until stopped. Raises CommandError."""
    count = _count(workers)
    try:
        node = configure_node(data_dir, listen, advertise, config, None, settings)
        plans = plan_workers(node.layers.static, count, host=os.uname().nodename)
    except CONFIGURATION_ERRORS as error:
        text = f"Wrong configuration: {configuration_error_text(error)}"
        raise CommandError(text, exit_code=ExitCode.USAGE) from None
    run_in_foreground(terminal, make_workers(node, plans), restarts=True)


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
