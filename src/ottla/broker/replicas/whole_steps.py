"""Steps on a worker that are waited for even if the caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from ottla.runtime.background import Background

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


async def run_whole(
    background: Background, step: Callable[[*Arguments], T], *arguments: *Arguments
) -> T:
    """Runs `step` on a worker and, if cancelled, waits for it: a cancelled start must not close
    logs that the worker is still opening."""
    running = asyncio.ensure_future(background.run(step, *arguments))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
