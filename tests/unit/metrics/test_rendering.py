"""Metrics as text, for people, for Prometheus and for every other reader of OpenMetrics."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.metrics import Metrics, Sample, TextFormat, render
from ottla.metrics.family import counter, gauge, histogram, info
from ottla.metrics.rendering import text_format
from tests.support.promtool import check_openmetrics_text, check_prometheus_text

REQUESTS = counter("ottla_requests_total", 'Requests, "all" of\nthem.', "api", "version")
SIZE = gauge("ottla_log_size_bytes", "Size of a log.", "topic")
DELAY = histogram("ottla_delay_seconds", "Delay.", "phase", bounds=(0.00001, 0.5, 1.0))
BUILD = info("ottla_build_info", "Version.", "version")


@pytest.fixture
def metrics() -> Metrics:
    metrics = Metrics()
    metrics.counter(REQUESTS, "Produce", "13").add(17)
    metrics.counter(REQUESTS, "Fetch", "18").add(0.5)
    metrics.gauge(SIZE, 'a "topic" \\ of\nmine').set(1 << 60)
    for value in (0.000001, 0.25, 3.0):
        metrics.histogram(DELAY, "local").record(value)
    metrics.measure(BUILD, lambda: [(("0.2.0",), 1)])
    return metrics


def text(metrics: Metrics, of: TextFormat) -> str:
    return "".join(render(metrics, of))


def test_openmetrics_text(metrics: Metrics) -> None:
    assert text(metrics, TextFormat.OPENMETRICS) == (
        "# TYPE ottla_build info\n"
        "# HELP ottla_build Version.\n"
        'ottla_build_info{version="0.2.0"} 1\n'
        "# TYPE ottla_delay_seconds histogram\n"
        "# UNIT ottla_delay_seconds seconds\n"
        "# HELP ottla_delay_seconds Delay.\n"
        'ottla_delay_seconds_bucket{phase="local",le="1e-05"} 1\n'
        'ottla_delay_seconds_bucket{phase="local",le="0.5"} 2\n'
        'ottla_delay_seconds_bucket{phase="local",le="1.0"} 2\n'
        'ottla_delay_seconds_bucket{phase="local",le="+Inf"} 3\n'
        'ottla_delay_seconds_count{phase="local"} 3\n'
        'ottla_delay_seconds_sum{phase="local"} 3.250001\n'
        "# TYPE ottla_log_size_bytes gauge\n"
        "# UNIT ottla_log_size_bytes bytes\n"
        "# HELP ottla_log_size_bytes Size of a log.\n"
        'ottla_log_size_bytes{topic="a \\"topic\\" \\\\ of\\nmine"} 1152921504606846976\n'
        "# TYPE ottla_requests counter\n"
        '# HELP ottla_requests Requests, \\"all\\" of\\nthem.\n'
        'ottla_requests_total{api="Produce",version="13"} 17\n'
        'ottla_requests_total{api="Fetch",version="18"} 0.5\n'
        "# EOF\n"
    )


def test_prometheus_text(metrics: Metrics) -> None:
    shown = text(metrics, TextFormat.PROMETHEUS)
    assert "# HELP ottla_build_info Version.\n# TYPE ottla_build_info gauge\n" in shown
    assert '# HELP ottla_requests_total Requests, "all" of\\nthem.\n' in shown
    assert "# TYPE ottla_requests_total counter\n" in shown
    assert "# UNIT" not in shown
    assert "# EOF" not in shown


def test_prometheus_reads_both_formats(metrics: Metrics, tmp_path: Path) -> None:
    check_prometheus_text(text(metrics, TextFormat.PROMETHEUS))
    check_openmetrics_text(text(metrics, TextFormat.OPENMETRICS), tmp_path)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(inf, "+Inf"), (-inf, "-Inf"), (nan, "NaN"), (1e-7, "1e-07"), (True, "1.0"), (-3, "-3")],
)
def test_numbers(value: float, shown: str) -> None:
    metrics = Metrics()
    metrics.measure(SIZE, lambda: [(("a",), value)])
    assert f'{{topic="a"}} {shown}\n' in text(metrics, TextFormat.PROMETHEUS)


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", TextFormat.OPENMETRICS),
        ("*/*", TextFormat.OPENMETRICS),
        ("text/plain", TextFormat.PROMETHEUS),
        ("application/openmetrics-text;version=1.0.0", TextFormat.OPENMETRICS),
        (
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
            "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            TextFormat.OPENMETRICS,
        ),
        (
            "text/plain;version=0.0.4;q=0.9, application/openmetrics-text;q=0.5",
            TextFormat.PROMETHEUS,
        ),
        ("application/openmetrics-text;q=none, text/plain;q=0.1", TextFormat.PROMETHEUS),
    ],
)
def test_the_accept_header_chooses_the_format(accept: str, wanted: TextFormat) -> None:
    assert text_format(accept) is wanted


def test_a_source_that_computes_for_long_lets_the_caller_pause() -> None:
    def computing() -> Iterator[Sample | None]:
        for _ in range(100):
            yield None
        yield ("a",), 1

    metrics = Metrics()
    metrics.measure(SIZE, computing)
    pieces = list(render(metrics, TextFormat.PROMETHEUS))
    assert pieces.count("") == 100


def test_many_series_come_in_small_pieces() -> None:
    metrics = Metrics()
    metrics.measure(SIZE, lambda: (((f"topic-{each}",), each) for each in range(10_000)))
    pieces = list(render(metrics, TextFormat.PROMETHEUS))
    assert max(piece.count("\n") for piece in pieces) < 100
    assert "".join(pieces).count("ottla_log_size_bytes{") == 10_000


@given(st.text())
def test_any_label_value_is_one_line(value: str) -> None:
    metrics = Metrics()
    metrics.measure(SIZE, lambda: [((value,), 1)])
    *_, line, rest = text(metrics, TextFormat.PROMETHEUS).split("\n")
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    assert (line, rest) == (f'ottla_log_size_bytes{{topic="{escaped}"}} 1', "")
