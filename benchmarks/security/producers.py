"""Several producers at once: over TLS, one librdkafka encrypts less than a server can take."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.versus.clients import ProgramClient, Run


@dataclass(frozen=True, slots=True)
class Producers:
    """Each is a process of its own and sends its share of the messages."""

    client: ProgramClient
    count: int

    @property
    def name(self) -> str:
        return f"{self.client.name} x {self.count}"

    def produce(
        self, address: str, topic: str, *, count: int, size: int, settings: Mapping[str, str]
    ) -> Run:
        share = count // self.count

        def one(_: int) -> Run:
            return self.client.produce(address, topic, count=share, size=size, settings=settings)

        with ThreadPoolExecutor(self.count) as pool:
            runs = list(pool.map(one, range(self.count)))
        return Run(
            sum(run.messages for run in runs),
            sum(run.bytes for run in runs),
            max(run.seconds for run in runs),
        )

    def consume(self, address: str, topic: str, *, partitions: int, count: int) -> Run:
        return self.client.consume(address, topic, partitions=partitions, count=count)
