"""The load that the tests of `ottla bench` send, and their results."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from math import ceil
from typing import Final, NamedTuple

VALUES: Final = 64


class BenchLoad(NamedTuple):
    """The parameters of a test."""

    seconds: float
    value_bytes: int
    rate: int
    acks: str
    compression: str


class Throughput(NamedTuple):
    records: int
    size_in_bytes: int
    seconds: float

    @property
    def records_per_s(self) -> float:
        return self.records / self.seconds

    @property
    def bytes_per_s(self) -> float:
        return self.size_in_bytes / self.seconds


class Latency(NamedTuple):
    """Latencies of `records` records, in milliseconds."""

    records: int
    p50_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float


def summarise_latencies(latencies_s: Iterable[float]) -> Latency:
    ordered = sorted(latencies_s)
    assert ordered, "no latency was measured"
    p50, p99, p999, highest = (
        1_000 * ordered[max(0, ceil(part * len(ordered)) - 1)] for part in (0.5, 0.99, 0.999, 1.0)
    )
    return Latency(len(ordered), p50, p99, p999, highest)


def make_values(value_bytes: int) -> list[bytes]:
    """Different hexadecimal texts of the same length, so that compression has a moderate effect."""
    return [_hexadecimal_text(number, value_bytes) for number in range(VALUES)]


def _hexadecimal_text(number: int, length: int) -> bytes:
    digests = range(ceil(length / 64))
    text = "".join(sha256(b"%d %d" % (number, digest)).hexdigest() for digest in digests)
    return text[:length].encode()
