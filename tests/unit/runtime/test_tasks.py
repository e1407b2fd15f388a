"""No task is forgotten, and none fails unheard."""

from __future__ import annotations

import asyncio

import pytest

from ottla.runtime.tasks import Tasks


class Errors:
    def __init__(self) -> None:
        self.reported: list[tuple[str, str]] = []

    def __call__(self, name: str, error: BaseException) -> None:
        self.reported.append((name, str(error)))


async def fail() -> None:
    raise ValueError("broken")


async def wait_forever(events: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        events.append("ended")


def test_an_error_is_reported_with_the_tasks_name() -> None:
    errors = Errors()

    async def scenario() -> None:
        tasks = Tasks(errors)
        task = tasks.start("flusher", fail())
        await asyncio.wait([task])
        await tasks.close()

    asyncio.run(scenario())
    assert errors.reported == [("flusher", "broken")]


def test_closing_cancels_every_task_and_waits_for_its_end() -> None:
    errors, events = Errors(), list[str]()

    async def scenario() -> None:
        tasks = Tasks(errors)
        for number in range(3):
            tasks.start(f"waiter {number}", wait_forever(events))
        await asyncio.wait([tasks.start("starts last", wait_forever(events))], timeout=0)
        await tasks.close()
        assert events == ["ended"] * 4

    asyncio.run(scenario())
    assert errors.reported == []


def test_an_error_while_being_cancelled_is_reported_too() -> None:
    errors = Errors()

    async def scenario() -> None:
        async def fails_when_cancelled() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                raise OSError("could not flush")

        tasks = Tasks(errors)
        started = tasks.start("flusher", fails_when_cancelled())
        await asyncio.wait([started], timeout=0)
        await tasks.close()

    asyncio.run(scenario())
    assert errors.reported == [("flusher", "could not flush")]


def test_nothing_starts_after_closing() -> None:
    async def scenario() -> None:
        tasks = Tasks(Errors())
        await tasks.close()
        with pytest.raises(RuntimeError, match="cannot start late: its owner has closed"):
            tasks.start("late", fail())

    asyncio.run(scenario())
