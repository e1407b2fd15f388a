"""How closely a client is held to 10 MB/s: by Ottla and by Apache Kafka, with the same client.

Both have the same arithmetic (tests/property/test_throttle_times.py). With its default windows it
lets a client that sends all it may send bursts of what ten windows allow, so that the rate over
half a minute depends on where that half minute begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from benchmarks.figure import Figure
from benchmarks.quotas.greedy_client import fetched, fill, produced, set_quotas
from benchmarks.versus.servers import KafkaServer, OttlaServer, Server, fresh

RATE: Final = 10_000_000
_WINDOW_SECONDS: Final = 30
# From Kafka's, either way: timing of two processes on a busy machine.
_DIFFERENCE_MAX: Final = 0.05
_TOPIC: Final = "held"


class HeldRate(NamedTuple):
    """In MB/s: over the first half minute, over the whole time, and over the half minutes with the
    least and the most."""

    first: float
    whole: float
    least: float
    most: float

    @classmethod
    def of(cls, events: list[tuple[float, int]], seconds: int) -> HeldRate:
        per_second = [0] * seconds
        for at, size in events:
            per_second[min(int(at), seconds - 1)] += size
        windows = [
            sum(per_second[start : start + _WINDOW_SECONDS]) / _WINDOW_SECONDS / 1e6
            for start in range(seconds - _WINDOW_SECONDS + 1)
        ]
        whole = sum(per_second) / seconds / 1e6
        return cls(windows[0], whole, min(windows), max(windows))


def run(
    *, quick: bool, report: Callable[[str], None], note: Callable[[str], None]
) -> Iterator[Figure]:
    seconds = _WINDOW_SECONDS if quick else 120
    found: dict[str, dict[str, HeldRate]] = {"produce": {}, "fetch": {}}
    for kind in (OttlaServer, KafkaServer):
        with fresh(kind) as server:
            server.start()
            fill(server.address, _TOPIC)
            for direction in found:
                report(f"quotas: {direction} at {server.name} for {seconds} s")
                rate = _held(server, direction, seconds)
                found[direction][server.name] = rate
                note(
                    f"{direction} at {server.name}, held to 10 MB/s: {rate.first:.2f} MB/s over "
                    f"the first 30 s, {rate.whole:.2f} over {seconds} s, {rate.least:.2f} to "
                    f"{rate.most:.2f} over any 30 s"
                )
    for direction, rates in found.items():
        own, kafkas = (rates[kind.name] for kind in (OttlaServer, KafkaServer))
        yield _figure(f"{direction}, held to 10 MB/s: over the first 30 s", own.first, kafkas.first)
        if seconds > _WINDOW_SECONDS:
            yield _figure(f"{direction}: over {seconds} s", own.whole, kafkas.whole)
            yield Figure(f"{direction}: the least of any 30 s", own.least, "MB/s", kafkas.least)
            yield Figure(f"{direction}: the most of any 30 s", own.most, "MB/s", kafkas.most)


def _figure(name: str, value: float, against: float) -> Figure:
    """Holds as close to the quota as Kafka does, or within 5 % of it."""
    off, kafkas_off = abs(value * 1e6 / RATE - 1), abs(against * 1e6 / RATE - 1)
    return Figure(
        name,
        value,
        "MB/s",
        against,
        bound="within 5 %, or as Kafka",
        holds=off <= max(0.05, kafkas_off + _DIFFERENCE_MAX),
    )


def _held(server: Server, direction: str, seconds: int) -> HeldRate:
    client_id = f"held-{direction}"
    quota = "producer_byte_rate" if direction == "produce" else "consumer_byte_rate"
    set_quotas(server.address, client_id, {quota: RATE})
    exchange = produced if direction == "produce" else fetched
    return HeldRate.of(exchange(server.address, _TOPIC, client_id, seconds), seconds)
