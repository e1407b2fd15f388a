"""Long work on the event loop, in slices of a millisecond."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import Final, TypeVar

from ottla.runtime.clock import Clock

T = TypeVar("T")

SLICE_SECONDS: Final = 0.001


async def in_slices(pieces: Iterable[T], clock: Clock) -> AsyncGenerator[T, None]:
    """The pieces, each of which takes much less than a millisecond."""
    started = clock.monotonic()
    for piece in pieces:
        yield piece
        if clock.monotonic() - started > SLICE_SECONDS:
            await clock.sleep(0)
            started = clock.monotonic()
