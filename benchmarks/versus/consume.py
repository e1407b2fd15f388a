"""Consuming from the beginning what lies in the page cache, assigned and without a group."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from benchmarks.figure import Figure
from benchmarks.versus.clients import Client
from benchmarks.versus.comparison import Bench, Bound, Samples, alternate
from benchmarks.versus.produce import ACKS_ALL, Spent, produce, speed_and_cpu
from benchmarks.versus.servers import Server
from benchmarks.versus.topics import PARTITIONS, topic


class Filled:
    """A topic on each side with the same messages; there until the `with` of `filled` ends."""

    def __init__(self, bench: Bench, names: dict[str, str], count: int) -> None:
        self._bench = bench
        self._names = names
        self._count = count

    def figures(self, client: Client) -> Iterator[Figure]:
        yield from speed_and_cpu(
            f"consume 1 KB ({client.name})",
            f"CPU per GB consumed, 1 KB ({client.name})",
            self.samples(client),
            Bound(ratio_min=1.0),
        )

    def samples(self, client: Client) -> Samples[Spent]:
        return alternate(
            self._bench.servers,
            lambda server: self._round(server, client),
            rounds=self._bench.scale.rounds,
            what=f"consume 1 KB ({client.name})",
            report=self._bench.report,
        )

    def _round(self, server: Server, client: Client) -> Spent:
        before_s = server.cpu_seconds()
        run = client.consume(
            server.load_address, self._names[server.name], partitions=PARTITIONS, count=self._count
        )
        return Spent(run, server.cpu_seconds() - before_s, self._count * ACKS_ALL.size)


@contextlib.contextmanager
def filled(bench: Bench, client: Client) -> Iterator[Filled]:
    count = ACKS_ALL.count(bench.scale)
    with contextlib.ExitStack() as stack:
        names = {server.name: stack.enter_context(topic(server)) for server in bench.servers}
        for server in bench.servers:
            bench.report(f"filling a topic to consume: {server.name}")
            produce(server, client, ACKS_ALL, names[server.name], count)
        yield Filled(bench, names, count)
