"""Metrics in OTLP, as the official messages of OpenTelemetry read them."""

from __future__ import annotations

import math

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE

from ottla.metrics import Family, MetricKind, Metrics
from ottla.metrics.family import counter, gauge, histogram, info
from ottla.metrics.otlp import MeasuredResource, Times, export_requests
from tests.support.monitoring.otlp_collector import Point, points_of

RESOURCE = MeasuredResource({"service.name": "ottla", "service.instance.id": "7"}, "1.2")
TIMES = Times(started_ns=1_000, now_ns=1_700_000_000_000_000_000)
REQUESTS = counter("ottla_requests_total", "Requests.", "api")
SIZE = gauge("ottla_log_size_bytes", "Size.", "topic", "partition")
LATENCY = histogram("ottla_latency_seconds", "Latency.", "api", bounds=(0.1, 1.0))
BUILD = info("ottla_build_info", "Build.", "version")


def exported(metrics: Metrics) -> list[ExportMetricsServiceRequest]:
    requests = export_requests(metrics, RESOURCE, TIMES)
    return [ExportMetricsServiceRequest.FromString(each) for each in requests if each is not None]


def only_point(metrics: Metrics) -> Point:
    (request,) = exported(metrics)
    (point,) = points_of(request)
    return point


def test_a_counter_is_a_monotonic_sum_since_the_start() -> None:
    metrics = Metrics()
    metrics.counter(REQUESTS, "Produce").add(3)
    found = only_point(metrics)
    assert (found.metric.name, found.metric.description) == ("ottla_requests", "Requests.")
    assert found.metric.sum.is_monotonic
    assert found.metric.sum.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE
    assert found.labels == {"api": "Produce"}
    assert found.point.as_int == 3
    assert (found.point.start_time_unix_nano, found.point.time_unix_nano) == TIMES


def test_a_gauge_has_a_unit_and_no_start() -> None:
    metrics = Metrics()
    metrics.gauge(SIZE, "orders", "0").set(-5)
    found = only_point(metrics)
    assert (found.metric.name, found.metric.unit) == ("ottla_log_size_bytes", "By")
    assert found.labels == {"topic": "orders", "partition": "0"}
    assert found.value == -5
    assert found.point.start_time_unix_nano == 0


def test_a_histogram_has_its_buckets() -> None:
    metrics = Metrics()
    series = metrics.histogram(LATENCY, "Fetch")
    for seconds in (0.05, 0.5, 0.5, 2.0):
        series.record(seconds)
    found = only_point(metrics)
    assert (found.metric.name, found.metric.unit) == ("ottla_latency_seconds", "s")
    assert list(found.point.bucket_counts) == [1, 2, 1]
    assert list(found.point.explicit_bounds) == [0.1, 1.0]
    assert (found.point.count, found.point.sum) == (4, 3.05)
    assert found.labels == {"api": "Fetch"}
    assert found.metric.histogram.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE


def test_information_is_a_gauge_that_keeps_its_name() -> None:
    metrics = Metrics()
    metrics.measure(BUILD, lambda: [(("1.2",), 1)])
    found = only_point(metrics)
    assert found.metric.name == "ottla_build_info"
    assert found.metric.WhichOneof("data") == "gauge"


@pytest.mark.parametrize("value", [0.5, math.inf, -math.inf, 1 << 63, 1e300])
def test_numbers_that_are_no_64_bit_integers_are_doubles(value: float) -> None:
    metrics = Metrics()
    metrics.gauge(SIZE, "orders", "0").set(value)
    assert only_point(metrics).point.as_double == value


def test_labels_that_are_no_unicode_are_replaced() -> None:
    metrics = Metrics()
    metrics.gauge(SIZE, "/data/\udcff", "0").set(1)
    assert only_point(metrics).labels["topic"] == "/data/?"


def test_many_series_take_several_requests_and_none_is_lost() -> None:
    metrics = Metrics()
    for number in range(5_000):
        metrics.gauge(SIZE, "x" * 100, str(number)).set(number)
    requests = exported(metrics)
    assert len(requests) > 2
    assert max(each.ByteSize() for each in requests) < 300_000
    found = [point.value for request in requests for point in points_of(request)]
    assert found == list(range(5_000))
    for request in requests:
        (of_resource,) = request.resource_metrics
        assert {each.key for each in of_resource.resource.attributes} == set(RESOURCE.attributes)
        assert of_resource.scope_metrics[0].scope.version == "1.2"


def test_encoding_pauses_where_a_source_does() -> None:
    slow = Family("ottla_slow", MetricKind.GAUGE, "Slow.")
    metrics = Metrics()
    metrics.measure(slow, lambda: [None, None, ((), 1)])
    *pauses, request = export_requests(metrics, RESOURCE, TIMES)
    assert pauses == [None, None, None]
    assert request is not None
