"""All metrics of a node as ExportMetricsServiceRequests of OTLP 1.

A request has a limited size, so many series take several requests, and a metric with many series
may continue in the next one. Counters and histograms are cumulative since the node's start.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple

from ottla.metrics.family import Distribution, Family, MetricKind, Sample
from ottla.metrics.otlp.decoding import Attributes
from ottla.metrics.otlp.protobuf import (
    bytes_field,
    double_field,
    fixed64_field,
    number_field,
    signed64_field,
    text_field,
)
from ottla.metrics.registry import Metrics

# Collectors accept 4 MiB and more; joining this many bytes takes well under a millisecond.
_REQUEST_BYTES_MAX: Final = 1 << 18
# A point takes one to ten microseconds.
_POINTS_PER_PIECE: Final = 32
_CUMULATIVE: Final = 2
_INT64: Final = range(-(1 << 63), 1 << 63)
_UNITS: Final[Mapping[str, str]] = {"seconds": "s", "bytes": "By", "ratio": "1"}
# The fields of Metric that hold the points of each kind; INFO is a gauge that is always 1.
_GAUGE: Final = 5
_SUM: Final = 7
_HISTOGRAM: Final = 9
_DATA: Final[Mapping[MetricKind, int]] = {
    MetricKind.COUNTER: _SUM,
    MetricKind.GAUGE: _GAUGE,
    MetricKind.HISTOGRAM: _HISTOGRAM,
    MetricKind.INFO: _GAUGE,
}
# The fields of NumberDataPoint and HistogramDataPoint that hold the labels.
_NUMBER_ATTRIBUTES: Final = 7
_HISTOGRAM_ATTRIBUTES: Final = 9


class MeasuredResource(NamedTuple):
    """What is measured: the attributes are the same for all metrics. `version` is Ottla's."""

    attributes: Mapping[str, str]
    version: str


class Times(NamedTuple):
    """In nanoseconds since the Unix epoch: when counting began, and now."""

    started_ns: int
    now_ns: int


class RelayedPoint(NamedTuple):
    """A number that another process has measured."""

    metric: str
    attributes: Attributes
    value: float
    is_counter: bool


def export_requests(
    metrics: Metrics, resource: MeasuredResource, times: Times, left_out: Collection[Family] = ()
) -> Iterator[bytes | None]:
    """The requests. None marks a place where the caller may pause, also after each family."""
    sent = _Requests(resource)
    for family, source in metrics.families():
        if family in left_out:
            continue
        points: list[bytes] = []
        for point in _points(family, source(), times):
            if point is None:
                yield None
                continue
            points.append(point)
            sent.bytes += len(point)
            if sent.bytes > _REQUEST_BYTES_MAX:
                sent.add(family, points)
                yield sent.take()
                points = []
        sent.add(family, points)
        yield None
    yield sent.take()


def relayed_requests(
    resources: Iterable[tuple[Mapping[str, str], Iterable[RelayedPoint]]], times: Times
) -> Iterator[bytes | None]:
    """Requests with what other processes have measured: the attributes of each, and its points."""
    parts: list[bytes] = []
    size = 0
    for attributes, points in resources:
        found = []
        for count, point in enumerate(points, start=1):
            found.append(_relayed_metric(point, times))
            if count % _POINTS_PER_PIECE == 0:
                yield None
        resource = bytes_field(1, _attributes(1, attributes))
        parts.append(bytes_field(1, resource + bytes_field(2, b"".join(found))))
        size += len(parts[-1])
        if size > _REQUEST_BYTES_MAX:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def _relayed_metric(relayed: RelayedPoint, times: Times) -> bytes:
    attributes = _attributes(_NUMBER_ATTRIBUTES, dict(relayed.attributes))
    point = fixed64_field(3, times.now_ns) + _number(relayed.value) + attributes
    kind = MetricKind.COUNTER if relayed.is_counter else MetricKind.GAUGE
    data = bytes_field(_DATA[kind], bytes_field(1, point) + _traits(kind))
    return bytes_field(2, text_field(1, relayed.metric) + data)


def _attributes(number: int, attributes: Mapping[str, str]) -> bytes:
    return b"".join(attribute(number, *pair) for pair in attributes.items())


class _Requests:
    """The request that is being filled."""

    def __init__(self, resource: MeasuredResource) -> None:
        self._resource = bytes_field(1, _attributes(1, resource.attributes))
        self._scope = bytes_field(1, text_field(1, "ottla") + text_field(2, resource.version))
        self._metrics: list[bytes] = []
        self.bytes = 0

    def add(self, family: Family, points: list[bytes]) -> None:
        if points:
            unit = text_field(3, _UNITS.get(family.unit, ""))
            # Prometheus adds `_total` to the names of counters again, but not `_info`.
            is_info = family.kind is MetricKind.INFO
            name = text_field(1, family.name if is_info else family.base_name)
            head = name + text_field(2, family.help) + unit
            data = b"".join(points) + _traits(family.kind)
            self._metrics.append(bytes_field(2, head + bytes_field(_DATA[family.kind], data)))

    def take(self) -> bytes:
        scope = self._scope + b"".join(self._metrics)
        self._metrics.clear()
        self.bytes = 0
        return bytes_field(1, self._resource + bytes_field(2, scope))


def _traits(kind: MetricKind) -> bytes:
    """Fields of Sum and Histogram beside their points."""
    if kind is MetricKind.COUNTER:
        return number_field(2, _CUMULATIVE) + number_field(3, 1)
    return number_field(2, _CUMULATIVE) if kind is MetricKind.HISTOGRAM else b""


@lru_cache(maxsize=4_096)
def attribute(number: int, name: str, value: str) -> bytes:
    """A KeyValue with a text, as a field of a message."""
    return bytes_field(number, text_field(1, name) + bytes_field(2, text_field(1, value)))


def _points(
    family: Family, samples: Iterable[Sample | None], times: Times
) -> Iterator[bytes | None]:
    """The data points, each as field 1 of Gauge, Sum or Histogram."""
    is_histogram = family.kind is MetricKind.HISTOGRAM
    encoded = _histogram_writer(family) if is_histogram else _number
    moments = fixed64_field(3, times.now_ns)
    if family.kind in (MetricKind.COUNTER, MetricKind.HISTOGRAM):
        moments = fixed64_field(2, times.started_ns) + moments
    number = _HISTOGRAM_ATTRIBUTES if is_histogram else _NUMBER_ATTRIBUTES
    for count, sample in enumerate(samples, start=1):
        if sample is not None:
            labels, value = sample
            parts = [moments, encoded(value)]
            parts += (
                attribute(number, name, label)
                for name, label in zip(family.labels, labels, strict=True)
            )
            yield bytes_field(1, b"".join(parts))
        if sample is None or count % _POINTS_PER_PIECE == 0:
            yield None


def _number(value: float | Distribution) -> bytes:
    assert not isinstance(value, Distribution)
    if isinstance(value, int) and value in _INT64:
        return signed64_field(6, value)
    return double_field(4, value)


def _histogram_writer(family: Family) -> Callable[[float | Distribution], bytes]:
    bounds = bytes_field(7, Struct(f"<{len(family.bounds)}d").pack(*family.bounds))
    counts = Struct(f"<{len(family.bounds) + 1}Q")

    def write(value: float | Distribution) -> bytes:
        assert isinstance(value, Distribution)
        total = fixed64_field(4, sum(value.counts)) + double_field(5, value.total)
        return total + bytes_field(6, counts.pack(*value.counts)) + bounds

    return write
