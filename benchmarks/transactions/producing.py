"""Transactions as fast as they are taken: many small ones, and large ones.

Small ones are what copies, transformations and Kafka Streams make. They come from several producers
at once, as they do there: one producer by itself mostly waits, and says how long a transaction
takes, not how many a broker can take. It is shown as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.figure import Figure
from benchmarks.transactions.amount import Amount
from benchmarks.transactions.load import Load, transact
from benchmarks.versus.clients import MEGABYTE, ProgramClient, Transacted
from benchmarks.versus.comparison import NO_BOUND, Bound, Report, alternate, compared
from benchmarks.versus.servers import Server
from benchmarks.versus.topics import topic

SMALL = Load(records=100, size=1_000, producers=4)
LARGE = Load(records=10_000, size=1_000)
ENOUGH = Bound(ratio_min=1.5)


@dataclass(frozen=True, slots=True)
class Spent:
    """What all producers of a round said, and the server's processor time meanwhile."""

    transacted: list[Transacted]
    cpu_s: float
    transactions: int

    @property
    def megabytes_per_second(self) -> float:
        # They began together and did the same: the slowest says when all were done.
        seconds = max(each.run.seconds for each in self.transacted)
        return sum(each.run.bytes for each in self.transacted) / MEGABYTE / seconds

    @property
    def cpu_ms_per_transaction(self) -> float:
        return self.cpu_s * 1_000 / self.transactions


def warm_up(
    servers: Sequence[Server], client: ProgramClient, amount: Amount, report: Report
) -> None:
    count = amount.warmup_transactions
    alternate(
        servers,
        lambda server: _round(server, client, SMALL, count),
        rounds=1,
        what="warming up",
        report=report,
    )


def figures(
    servers: Sequence[Server], client: ProgramClient, amount: Amount, report: Report
) -> Iterator[Figure]:
    small, large = amount.small_transactions, amount.large_transactions
    one = Load(SMALL.records, SMALL.size)
    loads = (
        (SMALL, small, f"{SMALL.producers} producers", ENOUGH),
        (one, small, "1 producer", NO_BOUND),
        (LARGE, large, "1 producer", ENOUGH),
    )
    for load, count, who, bound in loads:

        def once(server: Server, load: Load = load, count: int = count) -> Spent:
            return _round(server, client, load, count)

        what = f"transactions of {load.records:,} x 1 KB, {who}"
        samples = alternate(
            servers, once, rounds=amount.rounds, what=f"{what} ({client.name})", report=report
        )
        yield compared(
            f"{what} ({client.name})",
            "MB/s",
            samples,
            lambda spent: spent.megabytes_per_second,
            bound,
        )
        if load is SMALL:
            yield compared(
                f"CPU per transaction of {load.records:,} x 1 KB ({client.name})",
                "ms",
                samples,
                lambda spent: spent.cpu_ms_per_transaction,
            )


def _round(server: Server, client: ProgramClient, load: Load, count: int) -> Spent:
    with topic(server) as name:
        before_s = server.cpu_seconds()
        transacted = transact(server, client, load, name, count=count)
        cpu_s = server.cpu_seconds() - before_s
        return Spent(transacted, cpu_s, count * load.producers)
