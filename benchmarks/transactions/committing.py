"""How long commit_transaction takes when everything before it is acknowledged.

At a steady rate that neither side has trouble with, so that a commit waits for no other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.figure import Figure
from benchmarks.transactions.amount import Amount
from benchmarks.transactions.load import Load, transact
from benchmarks.versus.clients import ProgramClient, Transacted
from benchmarks.versus.comparison import NO_BOUND, Bound, Report, alternate, compared
from benchmarks.versus.servers import Server
from benchmarks.versus.topics import topic

LOAD = Load(records=10, size=1_000, rate=100)
AT_MOST_ITS_OWN = Bound(ratio_max=1)


def figures(
    servers: Sequence[Server], client: ProgramClient, amount: Amount, report: Report
) -> Iterator[Figure]:
    def once(server: Server) -> Transacted:
        with topic(server) as name:
            (transacted,) = transact(server, client, LOAD, name, count=amount.commits)
            return transacted

    what = f"{LOAD.records} x 1 KB at {LOAD.rate} transactions/s"
    samples = alternate(
        servers, once, rounds=amount.rounds, what=f"commit, {what} ({client.name})", report=report
    )
    values: tuple[tuple[str, Callable[[Transacted], float], Bound], ...] = (
        ("commit, p50", lambda result: result.commit_p50_ms, AT_MOST_ITS_OWN),
        ("commit, p99", lambda result: result.commit_p99_ms, AT_MOST_ITS_OWN),
        ("whole transaction, p50", lambda result: result.whole_p50_ms, NO_BOUND),
        ("whole transaction, p99", lambda result: result.whole_p99_ms, NO_BOUND),
    )
    for title, value, bound in values:
        yield compared(f"{title}, {what} ({client.name})", "ms", samples, value, bound)
