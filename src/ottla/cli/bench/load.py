"""What the tests of `ottla bench` send, and what they find."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from math import ceil
from typing import Final, NamedTuple

VALUES: Final = 64


class BenchLoad(NamedTuple):
    """How records are sent."""

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
    """Of `records` records, in milliseconds."""

    records: int
    p50_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float


def summarise_latencies(latencies_s: Iterable[float]) -> Latency:
    ordered = sorted(latencies_s)
    assert ordered, "somebody measured nothing"
    p50, p99, p999, highest = (
        1_000 * ordered[max(0, ceil(part * len(ordered)) - 1)] for part in (0.5, 0.99, 0.999, 1.0)
    )
    return Latency(len(ordered), p50, p99, p999, highest)


def make_values(value_bytes: int) -> list[bytes]:
    """Different texts of one length, which compress about as hexadecimal numbers do."""
    return [_hexadecimal_text(number, value_bytes) for number in range(VALUES)]


def _hexadecimal_text(number: int, length: int) -> bytes:
    digests = range(ceil(length / 64))
    text = "".join(sha256(b"%d %d" % (number, digest)).hexdigest() for digest in digests)
    return text[:length].encode()
