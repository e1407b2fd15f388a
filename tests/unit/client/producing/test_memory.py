"""Who gets memory that was given back."""

from __future__ import annotations

import asyncio

from ottla.client.producing.memory import BufferMemory
from ottla.runtime.system_clock import SystemClock


async def turn() -> None:
    for _ in range(3):
        await SystemClock().sleep(0)


def test_those_that_wait_get_what_is_given_back_one_after_the_other() -> None:
    async def scenario() -> None:
        memory = BufferMemory(100)
        assert memory.take_nowait(100)
        taken = []

        async def take(name: int) -> None:
            while not memory.take_nowait(60):
                await memory.wait(60)
            taken.append(name)

        tasks = [asyncio.ensure_future(take(name)) for name in range(4)]
        await turn()
        assert not memory.take_nowait(1), "nobody overtakes those that wait"
        memory.give_back(100)
        await turn()
        assert taken == [0]
        for _ in range(3):
            memory.give_back(60)
            await turn()
        assert taken == [0, 1, 2, 3]
        await asyncio.gather(*tasks)
        assert memory.free == 40

    asyncio.run(scenario())
