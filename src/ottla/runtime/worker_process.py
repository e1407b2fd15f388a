"""A worker process: runs one job at a time, over a pipe.

The process is a new interpreter, not a fork, which would copy locks held by threads that it does
not have. It is not one of `multiprocessing`'s processes, which would run the program's main module
again. Only the pipe is from `multiprocessing`, imported where it is used, because most processes
never compute.
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
    """Starts with the first job, and again after a crash or a stop.

    `call` and `stop` block and must be called from one thread; `kill` from any. The worker exits
    when the process that started it is gone.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection[Any, Any] | None = None
        self._lock = threading.Lock()
        self._job: object = None
        self._is_killed = False

    def call(self, job: object, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Returns the function's result or raises its exception. `job` identifies the call for
        `kill`."""
        request = pickle.dumps((function, arguments))
        with self._lock:
            self._job = job
        try:
            answer = self._send_request(request)
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
        """Kills the process if it runs this job. The job's `call` then raises."""
        with self._lock:
            if self._job is job:
                self._is_killed = True
                if self._process is not None:
                    self._process.kill()

    def stop(self) -> int | None:
        """Ends the idle process and returns its exit code."""
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

    def _send_request(self, request: bytes) -> bytes:
        if self._process is not None and self._process.poll() is not None:
            self.stop()
        if self._process is None:
            self._start()
        assert self._pipe is not None
        self._pipe.send_bytes(request)
        return self._pipe.recv_bytes()

    def _start(self) -> None:
        from multiprocessing import Pipe

        ours, theirs = Pipe()
        # Nothing is written to this pipe. When this process ends, the worker reads its end of file.
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
            reason += "; the host probably ran out of memory"
        return WorkerCrashedError(reason)


def work(pipe_descriptor: int, life_descriptor: int) -> None:
    """The worker's main function: runs jobs until the pipe closes or the parent ends."""
    from multiprocessing.connection import Connection

    # A terminal's interrupt reaches every process; the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(life_descriptor,), daemon=True).start()
    pipe: Connection[Any, Any] = Connection(pipe_descriptor)
    while True:
        try:
            request = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_answer(request))


def _answer(request: bytes) -> bytes:
    try:
        function, arguments = pickle.loads(request)  # noqa: S301  from our own process
        return pickle.dumps((True, function(*arguments)))
    except Exception as error:
        return pickle.dumps((False, _portable(error)))


def _end_with_parent(life_descriptor: int) -> None:
    """Exits with the parent. Otherwise a job would continue to write files after its node was
    killed and restarted."""
    os.read(life_descriptor, 1)
    os._exit(1)


def _portable(error: Exception) -> Exception:
    """The error itself if it can be pickled and unpickled, else its text."""
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
