"""Work beside the loop: results and errors come back, crashes are survived, nothing is left."""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

import tests.support.storage.background_jobs as jobs
from ottla.runtime.background import Background, InlineBackground, WorkerCrashedError
from ottla.runtime.system_background import SystemBackground


def with_background(scenario: Callable[[SystemBackground], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        background = SystemBackground()
        try:
            await scenario(background)
        finally:
            await background.close()

    asyncio.run(run())


def wait_process_gone(process_id: int) -> None:
    """Returns when the process has ended, whoever its parent is."""
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return
    ended, _, _ = select.select([descriptor], [], [], 10)
    os.close(descriptor)
    assert ended, f"process {process_id} is still there"


async def worker_announced(pipe: str) -> int:
    """The process id that `announce_and_never_end` writes."""
    return int(await asyncio.to_thread(Path(pipe).read_text))


@pytest.fixture
def pipe(tmp_path: Path) -> str:
    path = f"{tmp_path}/pipe"
    os.mkfifo(path)
    return path


def test_a_blocking_function_runs_on_another_thread_and_its_result_comes_back() -> None:
    async def scenario(background: SystemBackground) -> None:
        loop_thread = threading.get_ident()
        assert await background.run(threading.get_ident) != loop_thread
        assert await background.run(jobs.add, 1, 2) == 3
        with pytest.raises(LookupError, match="nothing here"):
            await background.run(jobs.fail, "nothing here")

    with_background(scenario)


def test_closing_waits_for_blocking_functions_that_have_begun() -> None:
    ended: list[str] = []

    async def scenario() -> None:
        background = SystemBackground()
        may_end = threading.Event()

        def slow() -> None:
            assert may_end.wait(10)
            ended.append("slow")

        job = background.run(slow)
        asyncio.get_running_loop().call_soon(may_end.set)
        await background.close()
        assert ended == ["slow"]
        await job

    asyncio.run(scenario())


def test_computations_share_one_other_process() -> None:
    async def scenario(background: SystemBackground) -> None:
        first = await background.compute(jobs.own_process_id)
        assert first != os.getpid()
        assert await background.compute(jobs.own_process_id) == first
        sums = await asyncio.gather(*(background.compute(jobs.add, n, 1) for n in range(3)))
        assert sums == [1, 2, 3]
        await background.close()
        wait_process_gone(first)

    with_background(scenario)


def test_what_a_computation_raises_comes_back_with_its_traceback() -> None:
    async def scenario(background: SystemBackground) -> None:
        with pytest.raises(LookupError, match="nothing here") as raised:
            await background.compute(jobs.fail, "nothing here")
        assert "background_jobs.py" in raised.value.__notes__[0]
        with pytest.raises(RuntimeError, match="UnpicklableError: 1 and 2"):
            await background.compute(jobs.fail_unpicklably)
        with pytest.raises((AttributeError, TypeError), match=r"lambda|pickle"):
            await background.compute(jobs.return_something_unpicklable)
        with pytest.raises((AttributeError, TypeError), match=r"lambda|pickle"):
            await background.compute(lambda: 1)
        assert await background.compute(jobs.add, 1, 1) == 2

    with_background(scenario)


def test_a_crash_of_the_worker_is_reported_and_the_next_job_gets_a_new_one() -> None:
    async def scenario(background: SystemBackground) -> None:
        with pytest.raises(WorkerCrashedError, match="exited with code 3 while it ran exit_with"):
            await background.compute(jobs.exit_with, 3)
        crashed, after = await asyncio.gather(
            background.compute(jobs.exit_by_signal),
            background.compute(jobs.add, 1, 1),
            return_exceptions=True,
        )
        assert isinstance(crashed, WorkerCrashedError)
        assert "signal 9" in str(crashed)
        assert "out of memory" in str(crashed)
        assert after == 2

    with_background(scenario)


def test_a_worker_that_died_between_jobs_is_replaced() -> None:
    async def scenario(background: SystemBackground) -> None:
        first = await background.compute(jobs.own_process_id)
        os.kill(first, 9)
        wait_process_gone(first)
        assert await background.compute(jobs.own_process_id) != first

    with_background(scenario)


def test_a_cancelled_computation_runs_no_more_and_those_behind_it_do(pipe: str) -> None:
    async def scenario(background: SystemBackground) -> None:
        endless = asyncio.ensure_future(background.compute(jobs.announce_and_never_end, pipe))
        waiting = asyncio.ensure_future(background.compute(jobs.exit_with, 1))
        behind = background.compute(jobs.add, 1, 1)
        worker = await worker_announced(pipe)
        waiting.cancel()
        endless.cancel()
        with pytest.raises(asyncio.CancelledError):
            await endless
        wait_process_gone(worker)
        assert await behind == 2

    with_background(scenario)


def test_closing_ends_computations(pipe: str) -> None:
    async def scenario() -> None:
        background = SystemBackground()
        endless = background.compute(jobs.announce_and_never_end, pipe)
        worker = await worker_announced(pipe)
        never_started = background.compute(jobs.add, 1, 1)
        await background.close()
        wait_process_gone(worker)
        for job in (endless, never_started):
            with pytest.raises(asyncio.CancelledError):
                await job

    asyncio.run(scenario())


def test_an_idle_worker_ends() -> None:
    async def scenario() -> None:
        background = SystemBackground(worker_idle_seconds=0)
        worker = await background.compute(jobs.own_process_id)
        await asyncio.to_thread(wait_process_gone, worker)
        assert await background.compute(jobs.own_process_id) != worker
        await background.close()

    asyncio.run(scenario())


def test_a_worker_ends_with_a_parent_that_was_killed(pipe: str) -> None:
    program = """if True:
        import asyncio, sys
        from ottla.runtime.system_background import SystemBackground
        from tests.support.storage.background_jobs import announce_and_never_end

        async def main():
            await SystemBackground().compute(announce_and_never_end, sys.argv[1])

        if __name__ == "__main__":
            asyncio.run(main())
    """
    with subprocess.Popen([sys.executable, "-c", program, pipe]) as parent:
        worker = int(Path(pipe).read_text())
        parent.kill()
    wait_process_gone(worker)


def test_inline_everything_has_happened_when_the_call_returns() -> None:
    background: Background = InlineBackground()
    done: list[int] = []
    job: Awaitable[None] = background.run(done.append, 1)
    assert done == [1]
    background.compute(done.append, 2)
    assert done == [1, 2]

    async def scenario() -> None:
        await job
        assert await background.compute(jobs.add, 1, 2) == 3
        failed = background.run(jobs.fail, "nothing here")
        with pytest.raises(LookupError, match="nothing here"):
            await failed
        await background.close()

    # No event loop: the awaitables never wait.
    with pytest.raises(StopIteration):
        scenario().send(None)
