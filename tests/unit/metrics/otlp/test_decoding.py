"""What is read of the metrics that clients push, and what of them is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AGGREGATION_TEMPORALITY_CUMULATIVE,
    AGGREGATION_TEMPORALITY_DELTA,
    Gauge,
    Metric,
    MetricsData,
    NumberDataPoint,
    Sum,
)

from ottla.metrics.otlp.decoding import ReceivedPoint, received_points
from ottla.metrics.otlp.protobuf import ProtobufError, bytes_field, text_field


def attributes(**texts: str) -> list[KeyValue]:
    return [KeyValue(key=name, value=AnyValue(string_value=text)) for name, text in texts.items()]


def metrics_data(*metrics: Metric, **resource: str) -> MetricsData:
    data = MetricsData()
    of_resource = data.resource_metrics.add()
    of_resource.resource.attributes.extend(attributes(**resource))
    of_resource.scope_metrics.add().metrics.extend(metrics)
    return data


def received(data: bytes) -> list[ReceivedPoint]:
    return [each for each in received_points(data) if each is not None]


def only(metric: Metric, **resource: str) -> ReceivedPoint:
    (point,) = received(metrics_data(metric, **resource).SerializeToString())
    return point


def gauge(*points: NumberDataPoint, name: str = "lag") -> Metric:
    return Metric(name=name, gauge=Gauge(data_points=points))


def test_a_gauge_has_the_attributes_of_its_point_and_its_resource() -> None:
    point = NumberDataPoint(as_double=1.5, attributes=attributes(topic="orders", client_rack="b"))
    assert only(gauge(point), client_rack="a", group_id="g") == ReceivedPoint(
        "lag",
        (("client_rack", "b"), ("group_id", "g"), ("topic", "orders")),
        1.5,
        is_counter=False,
        is_delta=False,
    )


@pytest.mark.parametrize(
    ("temporality", "is_monotonic", "is_counter", "is_delta"),
    [
        (AGGREGATION_TEMPORALITY_CUMULATIVE, True, True, False),
        (AGGREGATION_TEMPORALITY_DELTA, True, True, True),
        (AGGREGATION_TEMPORALITY_CUMULATIVE, False, False, False),
    ],
)
def test_only_sums_that_grow_are_counters(
    temporality: Any, *, is_monotonic: bool, is_counter: bool, is_delta: bool
) -> None:
    found = only(
        Metric(
            name="sent",
            sum=Sum(
                data_points=[NumberDataPoint(as_int=-7)],
                aggregation_temporality=temporality,
                is_monotonic=is_monotonic,
            ),
        )
    )
    assert (found.value, found.is_counter, found.is_delta) == (-7, is_counter, is_delta)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (AnyValue(bool_value=True), "true"),
        (AnyValue(int_value=-3), "-3"),
        (AnyValue(double_value=0.5), "0.5"),
        (AnyValue(bytes_value=b"x"), ""),
    ],
)
def test_attributes_of_other_types_become_texts(value: AnyValue, text: str) -> None:
    point = NumberDataPoint(as_int=1, attributes=[KeyValue(key="k", value=value)])
    assert only(gauge(point)).attributes == (("k", text),)


def test_histograms_and_points_without_a_number_are_left_out() -> None:
    histogram = Metric(name="latency")
    histogram.histogram.data_points.add(count=1)
    data = metrics_data(histogram, gauge(NumberDataPoint()), Metric(name="nothing"))
    assert received(data.SerializeToString()) == []


def test_reading_pauses_however_a_client_makes_it_long() -> None:
    many_points = metrics_data(gauge(*[NumberDataPoint(as_int=1)] * 1_000))
    pauses = [each for each in received_points(many_points.SerializeToString()) if each is None]
    assert len(pauses) >= 10
    many_empty = bytes_field(1, bytes_field(2, bytes_field(9, b"") * 10_000))
    assert len([each for each in received_points(many_empty) if each is None]) >= 100


@pytest.mark.parametrize(
    "point",
    [
        NumberDataPoint(as_int=1, attributes=attributes(**{f"k{each}": "" for each in range(65)})),
        NumberDataPoint(as_int=1, attributes=attributes(k="x" * 256)),
    ],
    ids=["many attributes", "long text"],
)
def test_points_that_no_client_sends_are_refused(point: NumberDataPoint) -> None:
    with pytest.raises(ProtobufError):
        only(gauge(point))


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a",
        b"\x0a\x05abc",
        b"\x0b",
        b"\x00\x00",
        b"\xff" * 11,
        b"\x08\x01",
        bytes_field(1, bytes_field(2, bytes_field(2, text_field(5, "x")))),
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ],
)
def test_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(ProtobufError):
        received(data)


@given(st.binary(max_size=200), st.integers(0, 200), st.integers(0, 255))
def test_any_bytes_are_read_or_refused(data: bytes, position: int, byte: int) -> None:
    sound = metrics_data(gauge(NumberDataPoint(as_int=1, attributes=attributes(a="b"))), c="d")
    broken = bytearray(sound.SerializeToString())
    broken[position % len(broken)] = byte
    for each in (data, bytes(broken)):
        try:
            received(each)
        except ProtobufError:
            continue
