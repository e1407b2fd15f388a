"""A process that calculates for another one: one job at a time, over a pipe.

The process is a new interpreter, not a fork, which would copy the locks of threads that it does not
have; and not one of `multiprocessing`'s, which would run the program's main module once more.
`multiprocessing` lends its pipe, and is imported where it is needed: most processes never compute.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ottla.runtime.background import WorkerCrashedError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_STOP_SECONDS_MAX = 5.0
_PROGRAM = f"import sys; from {__name__} import work; work(int(sys.argv[1]), int(sys.argv[2]))"


class WorkerProcess:
    """Started by the first job, started again after a crash or a stop.

    `call` and `stop` block and belong to one thread; `kill` may come from any. A worker ends by
    itself when the process that started it is gone.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
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
        try:
            code = process.wait(_STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        os.close(self._life)
        return code

    def _ask(self, question: bytes) -> bytes:
        if self._process is not None and self._process.poll() is not None:
            self.stop()
        if self._process is None:
            self._start()
        assert self._pipe is not None
        self._pipe.send_bytes(question)
        return self._pipe.recv_bytes()

    def _start(self) -> None:
        from multiprocessing import Pipe

        ours, theirs = Pipe()
        # Nothing is ever written to it: its end is ours.
        watched, self._life = os.pipe()
        inherited = (theirs.fileno(), watched)
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and text
            [sys.executable, "-c", _PROGRAM, *map(str, inherited)],
            stdin=subprocess.DEVNULL,
            pass_fds=inherited,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        theirs.close()
        os.close(watched)
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


def work(pipe_descriptor: int, life_descriptor: int) -> None:
    """The worker's own life: jobs until the pipe closes, and never longer than its parent's."""
    from multiprocessing.connection import Connection

    # An interrupt from the terminal reaches every process; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(life_descriptor,), daemon=True).start()
    pipe: Connection[Any, Any] = Connection(pipe_descriptor)
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


def _end_with_parent(life_descriptor: int) -> None:
    """Without this, a job would go on writing files after its node was killed and restarted."""
    os.read(life_descriptor, 1)
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
