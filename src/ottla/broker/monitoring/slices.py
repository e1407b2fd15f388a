"""Renders metrics on the event loop in slices of a millisecond.

Between two slices the loop handles what has arrived. A thread would not do better: it would hold
the interpreter's lock for up to 5 ms at a time, whenever the loop waits for it, and it would read a
state that changes meanwhile. `python -m benchmarks scrape` measures both.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from ottla.metrics import Metrics, TextFormat, render
from ottla.runtime.clock import Clock
from ottla.runtime.slices import SLICE_SECONDS


async def rendered_in_slices(
    metrics: Metrics, text_format: TextFormat, clock: Clock
) -> AsyncGenerator[bytes, None]:
    started = clock.monotonic()
    slice_: list[str] = []
    for piece in render(metrics, text_format):
        slice_.append(piece)
        if clock.monotonic() - started > SLICE_SECONDS:
            yield "".join(slice_).encode()
            slice_.clear()
            await clock.sleep(0)
            started = clock.monotonic()
    yield "".join(slice_).encode()
