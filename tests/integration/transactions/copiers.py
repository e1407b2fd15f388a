"""Copier processes: killed by the test, started again by whoever looks after them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.conformance.kafka.process import CLASSPATH, JAVA_OPTIONS
from tests.integration.transactions.copier import Order

_COPIER = Path(__file__).with_name("copier.py")
_LOOK_SECONDS = 0.05


def command(order: Order) -> list[str]:
    """A copier of librdkafka: it adds its partitions itself (TransactionV1)."""
    return [sys.executable, str(_COPIER), *order.arguments]


def java_command(order: Order, partition: int) -> list[str]:
    """Apache Kafka's own, of one partition, with aborts by chance: it leaves the adding of
    partitions to their leaders (TransactionV2)."""
    return [
        "java",
        *JAVA_OPTIONS,
        *("-cp", CLASSPATH, "org.apache.kafka.tools.TransactionalMessageCopier"),
        *(
            "--broker-list",
            order.client_configs["bootstrap.servers"],
            "--consumer-group",
            order.group,
        ),
        *("--input-topic", order.source, "--input-partition", str(partition)),
        *("--output-topic", order.target, "--transactional-id", order.transactional_id),
        *("--transaction-size", str(order.transaction_size), "--enable-random-aborts"),
        *("--transaction-timeout", "20000"),
    ]


class Copiers:
    """Run during its `with`, each with the same transactional id over all its lives. One that ends
    by itself without an error has done its part."""

    def __init__(self, commands: list[list[str]], errors: Path) -> None:
        self._commands = commands
        self._errors = errors
        self._processes: list[subprocess.Popen[bytes]] = []
        self._turn = -1
        self._resumes: list[threading.Timer] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._keeper = threading.Thread(target=self._keep)
        # By exit code; the killed ones have -9.
        self.ends: Counter[int] = Counter()

    def __enter__(self) -> Self:
        self._processes = [self._start(each) for each in self._commands]
        self._keeper.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._keeper.join()
        for resume in self._resumes:
            resume.cancel()
            resume.join()
        for process in self._processes:
            process.kill()
            process.wait()
        if kind is not None:
            print(f"---- copiers ended with {dict(self.ends)}\n{self.said[-4_000:]}")

    @property
    def said(self) -> str:
        return self._errors.read_text(errors="replace")

    def replace(self, number: int, command: list[str]) -> None:
        """Another process goes on in its place."""
        with self._lock:
            self._commands[number] = command
            self._processes[number].kill()

    def kill_one(self) -> None:
        """In turn, of those that run."""
        self._signal_next(signal.SIGKILL)

    def make_zombie(self, *, seconds: float) -> None:
        """Has one stand still for a while and go on as if nothing had happened."""
        process = self._signal_next(signal.SIGSTOP)
        if process is not None:
            resume = threading.Timer(seconds, process.send_signal, [signal.SIGCONT])
            resume.start()
            self._resumes.append(resume)

    def _signal_next(self, number: signal.Signals) -> subprocess.Popen[bytes] | None:
        with self._lock:
            for _ in self._processes:
                self._turn = (self._turn + 1) % len(self._processes)
                process = self._processes[self._turn]
                if process.poll() is None:
                    process.send_signal(number)
                    return process
        return None

    def _keep(self) -> None:
        while not self._stopping.wait(_LOOK_SECONDS):
            with self._lock:
                for number, process in enumerate(self._processes):
                    code = process.poll()
                    if code:
                        self.ends[code] += 1
                        self._processes[number] = self._start(self._commands[number])

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self._errors.open("ab") as errors:
            return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
