"""A process that calculates for another one: one job at a time, over a pipe.

The process is spawned, not forked: a fork would copy the locks of threads that it does not have.
`multiprocessing` is imported where it is needed, because most processes never compute.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ottla.runtime.background import WorkerCrashedError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

_STOP_SECONDS_MAX = 5.0


class WorkerProcess:
    """Started by the first job, started again after a crash or a stop.

    `call` and `stop` block and belong to one thread; `kill` may come from any. A worker ends by
    itself when the process that started it is gone.
    """

    def __init__(self) -> None:
        self._process: SpawnProcess | None = None
        self._pipe: Connection[Any, Any] | None = None
        self._lock = threading.Lock()
        self._job: object = None
        self._is_killed = False

    def call(self, job: object, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """The function's result, or what it raised. `job` is what `kill` knows this call by."""
        question = pickle.dumps((function, arguments))
        with self._lock:
            self._job = job
        try:
            answer = self._ask(question)
        except (EOFError, ConnectionError) as error:
            raise self._crashed(function) from error
        finally:
            with self._lock:
                self._job = None
                was_killed, self._is_killed = self._is_killed, False
            if was_killed:
                self.stop()
        succeeded, result = pickle.loads(answer)  # noqa: S301  from our own process
        if succeeded:
            return result
        raise result

    def kill(self, job: object) -> None:
        """Ends the process if it works on that job. The job's `call` then raises."""
        with self._lock:
            if self._job is job:
                self._is_killed = True
                if self._process is not None:
                    self._process.kill()

    def stop(self) -> int | None:
        """Ends the process, which has no job, and says its exit code."""
        process, self._process = self._process, None
        if self._pipe is not None:
            self._pipe.close()
        if process is None:
            return None
        process.join(_STOP_SECONDS_MAX)
        if process.is_alive():
            process.kill()
            process.join()
        return process.exitcode

    def _ask(self, question: bytes) -> bytes:
        if self._process is not None and not self._process.is_alive():
            self.stop()
        if self._process is None:
            self._start()
        assert self._pipe is not None
        self._pipe.send_bytes(question)
        return self._pipe.recv_bytes()

    def _start(self) -> None:
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs,), name="ottla-worker", daemon=True)
        process.start()
        theirs.close()
        self._pipe = ours
        with self._lock:
            self._process = process
            if self._is_killed:
                process.kill()

    def _crashed(self, function: Callable[..., Any]) -> WorkerCrashedError:
        code = self.stop()
        how = f"was ended by signal {-code}" if code and code < 0 else f"exited with code {code}"
        name = getattr(function, "__qualname__", repr(function))
        reason = f"the worker process {how} while it ran {name}; the next job gets a new one"
        if code == -signal.SIGKILL:
            reason += "; if nobody killed it, the host ran out of memory"
        return WorkerCrashedError(reason)


def _work(pipe: Connection[Any, Any]) -> None:
    """The worker's own life: jobs until the pipe closes."""
    # An interrupt from the terminal reaches every process; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            question = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_answer(question))


def _answer(question: bytes) -> bytes:
    try:
        function, arguments = pickle.loads(question)  # noqa: S301  from our own process
        return pickle.dumps((True, function(*arguments)))
    except Exception as error:
        return pickle.dumps((False, _portable(error)))


def _end_with_parent() -> None:
    """Without this, a job would go on writing files after its node was killed and restarted."""
    from multiprocessing import parent_process

    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _portable(error: Exception) -> Exception:
    """An error that arrives: itself if it can be pickled there and back, else its text."""
    note = "In the worker process:\n" + "".join(traceback.format_exception(error))
    try:
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301  it was pickled a moment ago
        found: Exception = copy if type(copy) is type(error) else _text_only(error)
    except Exception:
        found = _text_only(error)
    found.add_note(note)
    return found


def _text_only(error: Exception) -> Exception:
    return RuntimeError(f"{type(error).__name__}: {error}")
