"""Work in the background that waits until a test lets it go on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

from ottla.runtime.background import InlineBackground

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class HeldBackground(InlineBackground):
    """Runs everything at once until `hold`, and from then on nothing until `release`."""

    def __init__(self) -> None:
        self.held: list[Callable[[], None]] = []
        self._is_holding = False

    def hold(self) -> None:
        self._is_holding = True

    def run(  # type: ignore[override]
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> Awaitable[T]:
        if not self._is_holding:
            return super().run(function, *arguments)
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def finish() -> None:
            try:
                future.set_result(function(*arguments))
            except Exception as error:
                future.set_exception(error)

        self.held.append(finish)
        return future

    def compute_soon(  # type: ignore[override]
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> Awaitable[T]:
        return self.run(function, *arguments)

    async def release(self) -> None:
        """Runs the held jobs, and lets all tasks react. What comes next is held again."""
        held, self.held = self.held, []
        for finish in held:
            finish()
        await settle()


async def settle() -> None:
    """Lets all tasks run until each waits for something that has not happened."""
    loop = asyncio.get_running_loop()
    is_quiet = False
    while not is_quiet:
        await asyncio.sleep(0)  # noqa: TID251 - lets the tasks run, waits for nothing
        is_quiet = not loop._ready  # type: ignore[attr-defined]
