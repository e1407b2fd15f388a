"""asyncio on virtual time, and processes that end without a word."""

import asyncio

import pytest

from ottla.simulation.seams.loop import ErrorContext, SimulatedLoop
from ottla.simulation.seams.scheduler import Scheduler, StuckError


def new_loop(scheduler: Scheduler, errors: list[ErrorContext] | None = None) -> SimulatedLoop:
    reported = [] if errors is None else errors
    return SimulatedLoop(scheduler, "p", lambda _who, context: reported.append(context))  # type: ignore[abstract]


def test_time_jumps_to_the_next_timer_and_never_waits() -> None:
    scheduler = Scheduler()
    loop, seen = new_loop(scheduler), list[tuple[str, float]]()
    loop.call_later(3_600, lambda: seen.append(("late", loop.time())))
    loop.call_later(1, lambda: seen.append(("early", loop.time())))
    scheduler.run_until(lambda: len(seen) == 2)
    assert seen == [("early", 1.0), ("late", 3_600.0)]


def test_calls_of_the_same_time_run_in_the_order_in_which_they_were_scheduled() -> None:
    scheduler, seen = Scheduler(), list[int]()
    loop = new_loop(scheduler)
    for number in range(5):
        loop.call_later(1, seen.append, number)
    scheduler.run_until(lambda: len(seen) == 5)
    assert seen == [0, 1, 2, 3, 4]


def test_asyncios_own_events_tasks_and_timeouts_work() -> None:
    scheduler = Scheduler()
    loop = new_loop(scheduler)

    async def main() -> str:
        event = asyncio.Event()
        loop.call_later(5, event.set)
        await event.wait()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):
                await loop.create_future()
        done, _ = await asyncio.wait([loop.create_task(asyncio.sleep(1, "slept"))])  # noqa: TID251
        return done.pop().result()

    task = loop.create_task(main())
    scheduler.run_until(task.done)
    assert task.result() == "slept"
    assert scheduler.now == 8.0


def test_an_ended_process_does_not_even_clean_up() -> None:
    scheduler, seen = Scheduler(), list[str]()
    loop, other = new_loop(scheduler), new_loop(scheduler)

    async def main() -> None:
        try:
            await loop.create_future()
        finally:
            seen.append("cleaned up")

    task = loop.create_task(main())
    other.call_later(1, loop.end)
    other.call_later(2, task.cancel)
    other.call_later(3, seen.append, "over")
    scheduler.run_until(lambda: "over" in seen)
    assert seen == ["over"]
    loop.forget()


def test_a_paused_process_does_later_what_fell_due() -> None:
    scheduler, seen = Scheduler(), list[float]()
    loop, other = new_loop(scheduler), new_loop(scheduler)
    loop.call_later(1, lambda: seen.append(loop.time()))
    loop.pause()
    other.call_later(10, loop.resume)
    scheduler.run_until(lambda: bool(seen))
    assert seen == [10.0]


def test_exception_of_a_callback_is_recorded_and_the_world_goes_on() -> None:
    scheduler, errors = Scheduler(), list[ErrorContext]()
    loop = new_loop(scheduler, errors)
    loop.call_soon(lambda: 1 // 0)
    scheduler.run_until(lambda: bool(errors))
    assert isinstance(errors[0]["exception"], ZeroDivisionError)


def test_a_world_in_which_nothing_is_left_to_happen_is_stuck() -> None:
    with pytest.raises(StuckError, match="no event is scheduled"):
        Scheduler().run_until(lambda: False)


def test_a_world_in_which_time_stands_still_is_stuck() -> None:
    scheduler = Scheduler()
    loop = new_loop(scheduler)

    def again() -> None:
        loop.call_soon(again)

    again()
    with pytest.raises(StuckError, match="does not advance"):
        scheduler.run_until(lambda: False)
