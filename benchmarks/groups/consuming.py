"""A group that consumes as fast as it can and commits after every batch of a thousand messages."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence

from benchmarks.figure import Figure
from benchmarks.groups.amount import Amount
from benchmarks.versus.clients import ProgramClient
from benchmarks.versus.comparison import Bound, Report, alternate
from benchmarks.versus.produce import Spent, speed_and_cpu
from benchmarks.versus.servers import Server
from benchmarks.versus.topics import topic

SIZE = 1_000
_numbers = itertools.count()


def figures(
    servers: Sequence[Server], client: ProgramClient, amount: Amount, report: Report
) -> Iterator[Figure]:
    count = amount.consumed_messages
    with contextlib.ExitStack() as stack:
        names = {server.name: stack.enter_context(topic(server)) for server in servers}
        for server in servers:
            report(f"filling a topic to consume: {server.name}")
            name = names[server.name]
            client.produce(server.address, name, count=count, size=SIZE, settings={"acks": "all"})

        def once(server: Server) -> Spent:
            before_s = server.cpu_seconds()
            run = client.consume_in_group(
                server.address,
                names[server.name],
                group=f"consuming-{next(_numbers)}",
                # What is left of the last thousand would be waited for.
                count=count - count % 1_000,
            )
            return Spent(run, server.cpu_seconds() - before_s, count * SIZE)

        # The first round warms up what compiles while it runs.
        alternate(servers, once, rounds=1, what="warming up", report=report)
        what = f"a group consumes 1 KB, a commit per batch ({client.name})"
        samples = alternate(servers, once, rounds=amount.rounds, what=what, report=report)
        yield from speed_and_cpu(
            what,
            f"CPU per GB consumed in a group ({client.name})",
            samples,
            Bound(ratio_min=1.0),
        )
