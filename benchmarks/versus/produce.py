"""Producing as fast as the server takes it, and the processor time that it spends on that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.figure import Figure
from benchmarks.versus.clients import Client, Run
from benchmarks.versus.comparison import NO_BOUND, Bench, Bound, Samples, alternate, compared
from benchmarks.versus.scale import Scale
from benchmarks.versus.servers import Server
from benchmarks.versus.topics import topic

GIGABYTE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Load:
    name: str
    size: int
    settings: dict[str, str]
    count: Callable[[Scale], int]
    bound: Bound = NO_BOUND
    is_by_request: bool = False


ACKS_ALL = Load(
    "produce 1 KB, acks=all",
    1_000,
    {"acks": "all"},
    lambda scale: scale.produced_bytes // 1_000,
    Bound(ratio_min=1.5),
)
ONE_PER_REQUEST = Load(
    "produce, one record per request, 5 in flight",
    100,
    {"acks": "all", "linger.ms": "0", "batch.num.messages": "1", "max.in.flight": "5"},
    lambda scale: scale.produced_requests,
    Bound(ratio_min=3),
    is_by_request=True,
)
LOADS = (
    Load(
        "produce 1 KB, acks=1",
        1_000,
        {"acks": "1"},
        lambda scale: scale.produced_bytes // 1_000,
        Bound(ratio_min=1.5),
    ),
    Load(
        "produce 100 B, acks=all", 100, {"acks": "all"}, lambda scale: scale.produced_small_messages
    ),
    ONE_PER_REQUEST,
    Load(
        "produce, one record per request, 1 in flight",
        100,
        ONE_PER_REQUEST.settings | {"max.in.flight": "1"},
        lambda scale: scale.produced_requests // 2,
        is_by_request=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Spent:
    """A client's run and the server's processor time meanwhile."""

    run: Run
    cpu_s: float
    # All that passed meanwhile: a client leaves its own warming up out of its run.
    bytes: int

    @property
    def cpu_s_per_gigabyte(self) -> float:
        return self.cpu_s / self.bytes * GIGABYTE


def figures(bench: Bench, client: Client) -> Iterator[Figure]:
    yield from figures_of_one_kilobyte(bench, client)
    for load in LOADS:
        yield _speed(load, client, samples_of(bench, client, load))


def figures_of_one_kilobyte(bench: Bench, client: Client) -> Iterator[Figure]:
    yield from speed_and_cpu(
        f"{ACKS_ALL.name} ({client.name})",
        f"CPU per GB produced, 1 KB, acks=all ({client.name})",
        samples_of(bench, client, ACKS_ALL),
        ACKS_ALL.bound,
        Bound(ratio_max=0.5),
    )


def speed_and_cpu(
    speed: str,
    cpu: str,
    samples: Samples[Spent],
    speed_bound: Bound,
    cpu_bound: Bound = NO_BOUND,
) -> Iterator[Figure]:
    """The two figures of a load, with their names."""
    yield compared(
        speed, "MB/s", samples, lambda spent: spent.run.megabytes_per_second, speed_bound
    )
    yield compared(cpu, "s", samples, lambda spent: spent.cpu_s_per_gigabyte, cpu_bound)


def produce(server: Server, client: Client, load: Load, name: str, count: int) -> Spent:
    before_s = server.cpu_seconds()
    address = server.load_address
    run = client.produce(address, name, count=count, size=load.size, settings=load.settings)
    return Spent(run, server.cpu_seconds() - before_s, count * load.size)


def warm_up(bench: Bench, client: Client) -> None:
    def once(server: Server) -> None:
        _round(server, client, ACKS_ALL, bench.scale.warmup_bytes // ACKS_ALL.size)
        _round(server, client, ONE_PER_REQUEST, bench.scale.warmup_requests)

    alternate(bench.servers, once, rounds=1, what="warming up", report=bench.report)


def samples_of(bench: Bench, client: Client, load: Load) -> dict[str, list[Spent]]:
    count = load.count(bench.scale)
    return alternate(
        bench.servers,
        lambda server: _round(server, client, load, count),
        rounds=bench.scale.rounds,
        what=f"{load.name} ({client.name})",
        report=bench.report,
    )


def _round(server: Server, client: Client, load: Load, count: int) -> Spent:
    with topic(server) as name:
        return produce(server, client, load, name, count)


def _speed(load: Load, client: Client, samples: dict[str, list[Spent]]) -> Figure:
    name = f"{load.name} ({client.name})"
    if load.is_by_request:
        return compared(
            name,
            "requests/s",
            samples,
            lambda spent: spent.run.messages / spent.run.seconds,
            load.bound,
        )
    return compared(name, "MB/s", samples, lambda spent: spent.run.megabytes_per_second, load.bound)
