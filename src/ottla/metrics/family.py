"""A metric as it is declared: one name, one meaning, and one series for each set of label values.

Names follow Prometheus: base units (seconds, bytes), counters end in `_total`. Metrics of Ottla
begin with `ottla_`; those of any process have the names that Prometheus's own clients give them
(`process_cpu_seconds_total`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

# From 10 us, the processing of a small request, to 10 s.
SECONDS: Final = (
    0.00001,
    0.000025,
    0.00005,
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
)
_TOTAL: Final = "_total"
_INFO: Final = "_info"


class MetricKind(Enum):
    """The values are the names in OpenMetrics."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    # Always 1; the labels are the information.
    INFO = "info"


class Family(NamedTuple):
    """`kafka` is the MBean of Apache Kafka with the same meaning; empty if it has none. `bounds`
    are the upper bounds of a histogram's buckets, without infinity."""

    name: str
    kind: MetricKind
    help: str
    labels: tuple[str, ...] = ()
    kafka: str = ""
    bounds: tuple[float, ...] = ()

    @property
    def base_name(self) -> str:
        """The name without the suffix that OpenMetrics adds to each sample."""
        if self.kind is MetricKind.COUNTER:
            return self.name.removesuffix(_TOTAL)
        return self.name.removesuffix(_INFO) if self.kind is MetricKind.INFO else self.name

    @property
    def unit(self) -> str:
        """The unit in the name; empty if there is none."""
        last = self.base_name.rpartition("_")[2]
        return last if last in ("seconds", "bytes", "ratio") else ""


class Distribution(NamedTuple):
    """The value of a histogram: the number of values in each bucket and above the last bound, and
    the sum of all values."""

    counts: Sequence[int]
    total: float


# The values of the labels, and the value.
Sample: TypeAlias = tuple[tuple[str, ...], float | Distribution]
# Reads the samples of a family. None, instead of a sample, marks a place where reading may pause
# for other work; a source that computes for long without a sample yields it now and then.
Source: TypeAlias = Callable[[], Iterable[Sample | None]]


def counter(name: str, text: str, *labels: str, kafka: str = "") -> Family:
    assert name.endswith(_TOTAL), name
    return Family(name, MetricKind.COUNTER, text, labels, kafka)


def gauge(name: str, text: str, *labels: str, kafka: str = "") -> Family:
    return Family(name, MetricKind.GAUGE, text, labels, kafka)


def histogram(
    name: str, text: str, *labels: str, kafka: str = "", bounds: tuple[float, ...] = SECONDS
) -> Family:
    return Family(name, MetricKind.HISTOGRAM, text, labels, kafka, bounds)


def info(name: str, text: str, *labels: str, kafka: str = "") -> Family:
    assert name.endswith(_INFO), name
    return Family(name, MetricKind.INFO, text, labels, kafka)
