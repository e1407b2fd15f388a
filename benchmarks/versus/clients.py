"""The clients that load the servers: librdkafka from C, librdkafka from Python, Kafka's own Java.

The C one is what the bounds are measured with, because it is not what limits. It needs a C compiler
and the library that the wheel of confluent-kafka brings, and is compiled once per content of its
source. The Python one takes the same arguments and prints the same line.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.conformance.kafka.process import CLASSPATH

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache" / "perf"
RUN_TIMEOUT_S = 300
MEGABYTE = 1_000_000
# What Kafka's tools call MB.
MEBIBYTE = 1 << 20
JAVA_WARMUP_SHARE = 0.25
_STEADY = re.compile(r"(\d+) steady state records sent, ([\d.]+) records/sec")


class ClientMissingError(Exception):
    """This machine lacks something that a client is made of; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Run:
    """What went through a client, and what that took."""

    messages: int
    bytes: int
    seconds: float

    @property
    def megabytes_per_second(self) -> float:
        return self.bytes / MEGABYTE / self.seconds


@dataclass(frozen=True, slots=True)
class Percentiles:
    p50_ms: float
    p99_ms: float
    p999_ms: float


@dataclass(frozen=True, slots=True)
class Transacted:
    """Transactions of one producer. A commit begins when everything before it is acknowledged, a
    whole transaction with its first record."""

    run: Run
    committed_messages: int
    commit_p50_ms: float
    commit_p99_ms: float
    whole_p50_ms: float
    whole_p99_ms: float


class Client(Protocol):
    """Ends with an exception where anything is refused or does not come."""

    @property
    def name(self) -> str: ...

    def produce(
        self, address: str, topic: str, *, count: int, size: int, settings: Mapping[str, str]
    ) -> Run:
        """Sends messages of one size as fast as they are taken."""

    def consume(self, address: str, topic: str, *, partitions: int, count: int) -> Run:
        """Reads a topic from its beginning until it has seen so many messages."""


@dataclass(frozen=True, slots=True)
class ProgramClient:
    """A program that takes perf.c's arguments: perf.c itself, or python_client.py."""

    name: str
    command: tuple[str, ...]
    # Of every producer and consumer, but not of the clients that measure latency.
    settings: tuple[str, ...] = ()

    def produce(
        self, address: str, topic: str, *, count: int, size: int, settings: Mapping[str, str]
    ) -> Run:
        return self._run("produce", address, topic, count, size, *_pairs(settings))

    def consume(self, address: str, topic: str, *, partitions: int, count: int) -> Run:
        return self._run("consume", address, topic, partitions, count)

    def consume_in_group(self, address: str, topic: str, *, group: str, count: int) -> Run:
        """As the only member of a new group, with a commit after every thousand messages."""
        # A queue that is full for a moment would have it wait for a second, and measure that.
        pace = "fetch.queue.backoff.ms=1"
        settings = ("auto.offset.reset=earliest", "enable.auto.commit=false", pace)
        return self._run("group", address, topic, count, f"group.id={group}", *settings)

    def latency(
        self, address: str, topic: str, *, partitions: int, rate: int, count: int
    ) -> Percentiles:
        """From when a message was due to when the one waiting for it had it."""
        pace = ("linger.ms=0", "max.in.flight=5")
        result = self._call("latency", address, topic, partitions, rate, count, *pace)
        return Percentiles(*(result[name] / 1000 for name in ("p50_us", "p99_us", "p999_us")))

    def transact(
        self,
        address: str,
        topic: str,
        *,
        partitions: int,
        transactions: int,
        records: int,
        size: int,
        abort_every: int,
        rate: int,
        transactional_id: str,
    ) -> Transacted:
        """Transactions one after the other, so many a second or, at 0, as fast as they are taken.
        With `abort_every`, the last of so many is aborted."""
        amounts = (partitions, transactions, records, size, abort_every, rate)
        setting = f"transactional.id={transactional_id}"
        result = self._call("transact", address, topic, *amounts, setting)
        return Transacted(
            Run(int(result["messages"]), int(result["bytes"]), result["seconds"]),
            int(result["committed"]),
            *(
                result[name] / 1000
                for name in ("commit_p50_us", "commit_p99_us", "whole_p50_us", "whole_p99_us")
            ),
        )

    def _run(self, *arguments: str | int) -> Run:
        result = self._call(*arguments, *self.settings)
        return Run(int(result["messages"]), int(result["bytes"]), result["seconds"])

    def _call(self, *arguments: str | int) -> dict[str, float]:
        result: dict[str, float] = json.loads(_output([*self.command, *map(str, arguments)]))
        return result


class JavaClient:
    """kafka-producer-perf-test and kafka-consumer-perf-test at their defaults."""

    name = "Java"

    def produce(
        self, address: str, topic: str, *, count: int, size: int, settings: Mapping[str, str]
    ) -> Run:
        # The tool's first records run in the interpreter; it can leave them out.
        amount = ("--num-records", count, "--warmup-records", int(count * JAVA_WARMUP_SHARE))
        what = ("--topic", topic, "--record-size", size, "--throughput", -1, *amount)
        properties = ("--command-property", *_pairs(settings)) if settings else ()
        result = self._call("ProducerPerformance", address, *what, *properties)
        steady = _STEADY.findall(result)[-1]
        messages = int(steady[0])
        return Run(messages, messages * size, messages / float(steady[1]))

    def consume(self, address: str, topic: str, *, partitions: int, count: int) -> Run:  # noqa: ARG002
        what = ("--topic", topic, "--num-records", count, "--hide-header")
        fields = (
            self._call("ConsumerPerformance", address, *what).strip().splitlines()[-1].split(",")
        )
        mebibytes, messages, fetch_ms = float(fields[2]), int(fields[4]), float(fields[7])
        return Run(messages, round(mebibytes * MEBIBYTE), fetch_ms / 1000)

    def _call(self, tool: str, address: str, *arguments: str | int) -> str:
        command = ["java", "-Xmx512M", "-cp", CLASSPATH, f"org.apache.kafka.tools.{tool}"]
        return _output([*command, "--bootstrap-server", address, *map(str, arguments)])


def python_client() -> ProgramClient:
    return ProgramClient("Python", (sys.executable, "-m", "benchmarks.versus.python_client"))


def c_client() -> ProgramClient:
    """perf.c, compiled; raises ClientMissingError where that cannot be."""
    library = _library()
    program = compiled(HERE / "perf.c", str(library), f"-Wl,-rpath,{library.parent}")
    return ProgramClient("C", (str(program),))


def compiled(source: Path, *link: str) -> Path:
    """The program of a C source, made once per content; raises ClientMissingError without `cc`."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise ClientMissingError("no C compiler on the PATH: install gcc or clang")
    digest = hashlib.sha256(source.read_bytes() + "".join(link).encode()).hexdigest()[:16]
    program = CACHE / f"{source.stem}-{digest}"
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = program.with_suffix(".new")
        _output([compiler, "-O2", "-o", str(fresh), str(source), *link, "-lpthread"])
        fresh.rename(program)
    return program


def loading_client(note: Callable[[str], None]) -> tuple[ProgramClient, bool]:
    """The client that loads the servers, and whether it is fast enough to judge them by."""
    try:
        return c_client(), True
    except ClientMissingError as error:
        note(f"A client in Python makes the load and limits it; bounds are not checked: {error}")
        return python_client(), False


def _library() -> Path:
    found = importlib.util.find_spec("confluent_kafka")
    if found is None or found.origin is None:
        raise ClientMissingError("confluent-kafka is not installed: run `make setup`")
    beside = Path(found.origin).parents[1] / "confluent_kafka.libs"
    for library in sorted(beside.glob("librdkafka-*.so*")):
        return library
    raise ClientMissingError(f"confluent-kafka has no librdkafka in {beside}; install its wheel")


def _pairs(settings: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in settings.items()]


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_TIMEOUT_S)
    if done.returncode:
        shown = " ".join(command[-8:])
        raise RuntimeError(f"the client ended with {done.returncode}: {shown}\n{done.stderr}")
    return done.stdout
