"""What producers do in a measurement: transactions one after the other, all alike."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.versus.clients import ProgramClient, Transacted
from benchmarks.versus.servers import Server
from benchmarks.versus.topics import PARTITIONS

_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Load:
    """Each transaction has records in every partition of its topic."""

    records: int
    size: int
    producers: int = 1
    # Of so many the last one is aborted, or none at all.
    abort_every: int = 0
    # A second, of each producer, or as fast as they are taken.
    rate: int = 0


def transact(
    server: Server, client: ProgramClient, load: Load, topic: str, *, count: int
) -> list[Transacted]:
    """So many transactions by each producer; they are processes of their own, under way at once."""

    def one(number: int) -> Transacted:
        return client.transact(
            server.address,
            topic,
            partitions=PARTITIONS,
            transactions=count,
            records=load.records,
            size=load.size,
            abort_every=load.abort_every,
            rate=load.rate,
            transactional_id=f"{topic}-{number}",
        )

    with ThreadPoolExecutor(load.producers) as pool:
        return list(pool.map(one, [next(_numbers) for _ in range(load.producers)]))
