"""The shared event-loop thread: forks, interpreter exit, callbacks and interrupts."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading

import pytest

from ottla.client import IllegalStateError, TimedOutError
from ottla.client.sync import Producer
from ottla.client.sync.loop_thread import LoopThread
from ottla.testing import Cluster


async def doubled(number: int) -> int:
    return 2 * number


async def endless() -> None:
    await asyncio.Event().wait()


def test_all_clients_of_a_process_share_a_thread() -> None:
    thread = LoopThread.shared()
    assert LoopThread.shared() is thread
    assert thread.run(doubled, 21) == 42
    names = [each.name for each in threading.enumerate()]
    assert names.count("ottla-client") == 1


def test_a_call_can_time_out() -> None:
    with pytest.raises(TimedOutError):
        LoopThread.shared().run(endless, timeout=0.01)


def test_a_callback_that_would_wait_for_itself_is_refused() -> None:
    thread = LoopThread.shared()

    async def nested() -> int:
        return thread.run(doubled, 1)

    with pytest.raises(IllegalStateError, match="would wait for itself"):
        thread.run(nested)


FORKED = """
import os
from ottla.client import IllegalStateError
from ottla.client.sync.loop_thread import LoopThread

async def doubled(number):
    return 2 * number

before = LoopThread.shared()
assert before.run(doubled, 1) == 2
child = os.fork()
if child == 0:
    try:
        before.run(doubled, 1)
    except IllegalStateError:
        # Of the child's own thread.
        os._exit(LoopThread.shared().run(doubled, 3))
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 6
assert before.run(doubled, 2) == 4
print("done")
"""


def test_a_forked_child_has_a_thread_of_its_own() -> None:
    assert run_program(FORKED) == "done\n"


UNCLOSED = """
import sys
from ottla.client.sync import Producer
producer = Producer(bootstrap_servers=sys.argv[1])
producer.send("t", b"value").result()
print("done")
"""


def test_the_interpreter_ends_cleanly_with_a_producer_that_was_not_closed() -> None:
    with Cluster() as cluster:
        cluster.create_topic("t")
        assert run_program(UNCLOSED, cluster.bootstrap) == "done\n"


def run_program(program: str, *arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        env=os.environ,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_records_of_many_threads_keep_the_order_of_each() -> None:
    with Cluster() as cluster:
        cluster.create_topic("t")
        with Producer(bootstrap_servers=cluster.bootstrap) as producer:
            offsets: dict[int, list[int]] = {}

            def send(number: int) -> None:
                deliveries = [producer.send("t", b"x" * number) for _ in range(500)]
                offsets[number] = [each.result(20).offset for each in deliveries]

            threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert all(found == sorted(found) for found in offsets.values())
        assert sorted(each for found in offsets.values() for each in found) == list(range(2_000))
        with pytest.raises(IllegalStateError, match="closed"):
            producer.send("t", b"late")
