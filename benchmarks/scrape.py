"""How long a scrape of 50,000 series keeps an event loop from its other work.

A task reads the clock in every turn of the loop; the longest time between two of its turns is the
longest hold. Beside the slices that a node renders, the same text is rendered by a thread, which
has to share the interpreter's lock with the loop.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

from benchmarks.figure import Figure
from ottla.broker.monitoring.slices import rendered_in_slices
from ottla.metrics import Metrics, TextFormat, render
from ottla.metrics.table import storage
from ottla.runtime.system_background import SystemBackground
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_loop import run as run_loop

_SERIES: Final = 50_000
_ROUNDS: Final = 20
_HOLD_MS_MAX: Final = 5.0
_FORMAT: Final = TextFormat.OPENMETRICS


def run() -> Iterator[Figure]:
    metrics = Metrics()
    labels = [(f"topic-{each % 100}", str(each), "/data") for each in range(_SERIES)]
    metrics.measure(storage.LOG_SIZE, lambda: ((each, len(each[1])) for each in labels))
    gc.collect()
    gc.freeze()
    background = SystemBackground(threads=1)

    async def in_slices() -> None:
        async for _ in rendered_in_slices(metrics, _FORMAT, SystemClock()):
            pass

    async def in_thread() -> None:
        await background.run(lambda: "".join(render(metrics, _FORMAT)))

    async def measure() -> tuple[list[float], list[float]]:
        try:
            return await _holds(in_slices), await _holds(in_thread)
        finally:
            await background.close()

    slices, thread = run_loop(measure())
    gc.unfreeze()
    yield Figure(
        f"scrape of {_SERIES:,} series: longest hold of the loop (against: on a thread)",
        max(slices),
        "ms",
        max(thread),
        f"< {_HOLD_MS_MAX:.0f}",
        max(slices) < _HOLD_MS_MAX,
    )
    yield Figure("the same: median of the rounds", sorted(slices)[_ROUNDS // 2], "ms")
    yield Figure("the same on a thread: median", sorted(thread)[_ROUNDS // 2], "ms")


async def _holds(scrape: Callable[[], Awaitable[None]]) -> list[float]:
    """The longest hold of each round, in milliseconds."""
    clock, longest, is_over = SystemClock(), 0.0, False

    async def take_turns() -> None:
        nonlocal longest
        last = clock.monotonic()
        while not is_over:
            # Through the system's queue of events, as requests come.
            await clock.sleep(0.0001)
            now = clock.monotonic()
            longest = max(longest, now - last - 0.0001)
            last = now

    found = []
    watching = asyncio.ensure_future(take_turns())
    for _ in range(_ROUNDS):
        await clock.sleep(0.01)
        longest = 0.0
        await scrape()
        found.append(longest * 1_000)
    is_over = True
    await watching
    return found
