"""Reading a topic full of small transactions as read_committed, one in four of them aborted.

The bound is on what a broker sends to a client that only looks at what comes (light_consumer.c):
finding the records, finding out which transactions among them were aborted, sending both. What
librdkafka makes of it is shown without a bound: it needs more than a core to itself for what costs
either broker half of one, and so measures itself.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.transactions.amount import Amount
from benchmarks.transactions.load import Load, transact
from benchmarks.versus.clients import RUN_TIMEOUT_S, ProgramClient, Run, compiled
from benchmarks.versus.comparison import Bound, Report, alternate, compared
from benchmarks.versus.produce import GIGABYTE
from benchmarks.versus.servers import Server
from benchmarks.versus.topics import PARTITIONS, topic

LOAD = Load(records=100, size=100, producers=4, abort_every=4)
# It is read so often in each round, because it is small enough to be read in a moment.
READS = 10
# What librdkafka hands over at a time: what is left of the last batch would be waited for.
BATCH = 1_000
WHAT = "read_committed, transactions of 100 x 100 B, 1 in 4 aborted"


@dataclass(frozen=True, slots=True)
class Consumed:
    run: Run
    cpu_s: float

    @property
    def messages_per_second(self) -> float:
        return self.run.messages / self.run.seconds

    @property
    def cpu_s_per_gigabyte(self) -> float:
        return self.cpu_s / self.run.bytes * GIGABYTE


class Filled:
    """A topic on each side with the same transactions."""

    def __init__(
        self, names: dict[str, str], committed: dict[str, int], client: ProgramClient
    ) -> None:
        self._names = names
        self._committed = committed
        self._client = client
        self._light = compiled(Path(__file__).with_name("light_consumer.c"))

    def read(self, server: Server) -> Consumed:
        """By the light consumer, which has to see what was committed and nothing else."""
        expected = self._committed[server.name] * READS

        def run() -> Run:
            host, _, port = server.address.rpartition(":")
            topic_and_amount = (self._names[server.name], str(PARTITIONS), str(READS))
            command = [str(self._light), host, port, *topic_and_amount]
            measured = json.loads(_output(command))
            if measured["messages"] != expected:
                raise RuntimeError(f"{expected} messages are committed, not {measured['messages']}")
            return Run(measured["messages"], measured["bytes"], measured["seconds"])

        return _measured(server, run)

    def consume(self, server: Server) -> Consumed:
        """By librdkafka, whose default is read_committed."""
        committed = self._committed[server.name]
        return _measured(
            server,
            lambda: self._client.consume(
                server.address,
                self._names[server.name],
                partitions=PARTITIONS,
                count=committed - committed % BATCH,
            ),
        )


def figures(
    servers: Sequence[Server], client: ProgramClient, amount: Amount, report: Report
) -> Iterator[Figure]:
    count, rounds = amount.consumed_transactions // LOAD.producers, amount.rounds
    with contextlib.ExitStack() as stack:
        names = {server.name: stack.enter_context(topic(server)) for server in servers}
        committed = {}
        for server in servers:
            report(f"filling a topic with transactions: {server.name}")
            measured = transact(server, client, LOAD, names[server.name], count=count)
            committed[server.name] = sum(each.committed_messages for each in measured)
        filled = Filled(names, committed, client)
        alternate(servers, filled.read, rounds=3, what="warming up", report=report)
        samples = alternate(servers, filled.read, rounds=rounds, what=WHAT, report=report)
        yield compared(
            f"{WHAT} (light)", "messages/s", samples, _messages_per_second, Bound(ratio_min=1.5)
        )
        yield compared(
            f"CPU per GB, {WHAT} (light)",
            "s",
            samples,
            lambda consumed: consumed.cpu_s_per_gigabyte,
        )
        samples = alternate(servers, filled.consume, rounds=rounds, what=WHAT, report=report)
        yield compared(f"{WHAT} ({client.name})", "messages/s", samples, _messages_per_second)


def _measured(server: Server, run: Callable[[], Run]) -> Consumed:
    before_s = server.cpu_seconds()
    return Consumed(run(), server.cpu_seconds() - before_s)


def _messages_per_second(consumed: Consumed) -> float:
    return consumed.messages_per_second


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_TIMEOUT_S)
    if done.returncode:
        raise RuntimeError(f"the consumer exited with code {done.returncode}: {done.stderr}")
    return done.stdout
