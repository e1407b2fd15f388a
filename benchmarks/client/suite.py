"""Each load with each client in turn, several rounds; the best of each counts, since whatever else
runs on the host only makes a round slower."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.figure import Figure
from benchmarks.versus.servers import OttlaServer, fresh

ROUNDS: Final = 3
RECORDS: Final = 1_000_000
RECORDS_SLOW: Final = 300_000
LATENCIES: Final = 10_000
SIZE: Final = 200
PARTITIONS: Final = 6
_TIMEOUT_S: Final = 300


def run() -> Iterator[Figure]:
    with fresh(OttlaServer) as server:
        server.start()
        bench = ClientBench(server.address)
        produce = bench.best("ottla", "produce", RECORDS_SLOW)
        aiokafka = bench.best("aiokafka", "produce", RECORDS_SLOW)
        yield Figure(
            "produce record by record, beside aiokafka",
            produce / 1e3,
            "k/s",
            aiokafka / 1e3,
            "at least as fast",
            produce >= aiokafka,
        )
        confluent = bench.best("confluent", "produce", RECORDS)
        yield Figure(
            "produce record by record, beside confluent-kafka",
            produce / 1e3,
            "k/s",
            confluent / 1e3,
        )
        columns = bench.best("ottla", "columns", RECORDS)
        yield Figure(
            "produce by columns, beside confluent-kafka record by record",
            columns / 1e3,
            "k/s",
            confluent / 1e3,
            "at least 3 times as fast",
            columns >= 3 * confluent,
        )
        ours = bench.least("ottla", "latency", LATENCIES)
        theirs = bench.least("aiokafka", "latency", LATENCIES)
        yield Figure(
            "p99 from produce to consume at 1,000/s, beside aiokafka",
            ours,
            "ms",
            theirs,
            "at most aiokafka's",
            ours <= theirs,
        )
        yield from consuming(bench)


def consuming(bench: ClientBench) -> Iterator[Figure]:
    topic = bench.filled(RECORDS)
    polled = bench.best_read("ottla", "poll", topic, RECORDS)
    theirs = bench.best_read("aiokafka", "poll", topic, RECORDS)
    yield Figure(
        "consume by poll, beside aiokafka's getmany",
        polled / 1e3,
        "k/s",
        theirs / 1e3,
        "at least as fast",
        polled >= theirs,
    )
    each = bench.best_read("ottla", "each", topic, RECORDS)
    theirs = bench.best_read("aiokafka", "each", topic, RECORDS_SLOW)
    yield Figure(
        "consume by async for, beside aiokafka",
        each / 1e3,
        "k/s",
        theirs / 1e3,
        "at least twice as fast",
        each >= 2 * theirs,
    )
    columns = bench.best_read("ottla", "columns", topic, RECORDS)
    confluent = bench.best_read("confluent", "poll", topic, RECORDS)
    yield Figure(
        "consume by columns, beside confluent-kafka record by record",
        columns / 1e3,
        "k/s",
        confluent / 1e3,
        "at least 3 times as fast",
        columns >= 3 * confluent,
    )


class ClientBench:
    """Every round has a topic of its own, which is deleted after it."""

    def __init__(self, broker: str) -> None:
        self._broker = broker
        self._admin = AdminClient({"bootstrap.servers": broker, "log_level": 0})
        self._rounds = 0

    def best(self, client: str, load: str, count: int) -> float:
        return max(self._round(client, load, count) for _ in range(ROUNDS))

    def least(self, client: str, load: str, count: int) -> float:
        return min(self._round(client, load, count) for _ in range(ROUNDS))

    def best_read(self, client: str, load: str, topic: str, count: int) -> float:
        return max(
            self._run("consuming_loads", client, load, topic, str(PARTITIONS), str(count))
            for _ in range(ROUNDS)
        )

    def filled(self, count: int) -> str:
        """A topic with so many records of the usual size."""
        self._admin.create_topics([NewTopic("filled", PARTITIONS, 1)])["filled"].result()
        producer = Producer({"bootstrap.servers": self._broker, "linger.ms": 5})
        for number in range(count):
            producer.produce("filled", bytes(SIZE), partition=number % PARTITIONS)
            if number % 10_000 == 0:
                producer.flush()
        producer.flush()
        return "filled"

    def _round(self, client: str, load: str, count: int) -> float:
        self._rounds += 1
        topic = f"round-{self._rounds}"
        self._admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result()
        value = self._run("loads", client, load, topic, str(count), str(SIZE))
        self._admin.delete_topics([topic])[topic].result()
        return value

    def _run(self, module: str, client: str, load: str, *arguments: str) -> float:
        ran = subprocess.run(
            [
                *(sys.executable, "-m", f"benchmarks.client.{module}"),
                *(client, load, self._broker, *arguments),
            ],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=_TIMEOUT_S,
        )
        return float(json.loads(ran.stdout)["value"])
