"""Progress, metrics and failures, from what Spark says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from ottla.configs.otlp_endpoint import parse_otlp_endpoint
from ottla.pipeline.running.failures import explain, is_passing
from ottla.pipeline.running.metrics import PipelineMetrics, serving
from ottla.pipeline.running.progress import QueryProgress, to_progress
from ottla.pipeline.running.traces import exporting_traces
from tests.support.monitoring.otlp_collector import OtlpCollector

REPORTED = {
    "batchId": 7,
    "numInputRows": 300,
    "processedRowsPerSecond": 150.0,
    "batchDuration": 2000,
    "sources": [
        {"endOffset": {"a": {"0": 10, "1": 5}}, "latestOffset": {"a": {"0": 12, "1": 5, "2": 4}}},
        {"endOffset": {"logOffset": 3}, "latestOffset": None},
    ],
    "stateOperators": [{"numRowsTotal": 4}, {"numRowsTotal": 5}],
    "eventTime": {"watermark": "2013-01-01T00:00:00.000Z"},
    "timestamp": "2026-01-02T03:04:05.678Z",
}
PROGRESS = QueryProgress(
    "orders", 7, 300, 150.0, 2000, 6, 9, "2013-01-01T00:00:00.000Z", "2026-01-02T03:04:05.678Z"
)


def test_lag_is_what_the_cluster_has_and_the_query_has_not() -> None:
    assert to_progress("orders", json.dumps(REPORTED)) == PROGRESS


def test_a_query_that_reads_no_topic_has_no_lag() -> None:
    assert to_progress("orders", json.dumps({"batchId": 0, "sources": [{}]})).lag is None


def test_a_batch_is_a_span() -> None:
    with OtlpCollector("/v1/traces") as collector:
        endpoint = parse_otlp_endpoint(f"{collector.endpoint}/v1/traces", None)
        assert endpoint is not None
        with exporting_traces(endpoint, ["orders"]) as traces:
            traces.take(PROGRESS)
            traces.take(replace(PROGRESS, rows=0, batch_id=8))
        (span,) = collector.spans()
    assert span.span.name == "batch orders"
    assert span.attributes["ottla.batch.id"] == 7
    assert span.attributes["ottla.batch.rows"] == 300
    assert span.resource["service.name"] == "ottla-pipeline"
    assert span.span.start_time_unix_nano == 1_767_323_045_678_000_000
    assert span.span.end_time_unix_nano - span.span.start_time_unix_nano == 2_000_000_000


def test_metrics_are_served_as_prometheus_reads_them() -> None:
    metrics = PipelineMetrics()
    metrics.take(PROGRESS)
    metrics.take(PROGRESS)
    with serving(metrics, 0) as port:
        request = Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": "text/plain"})
        with urlopen(request) as answer:
            text = answer.read().decode()
        with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            assert answer.read().endswith(b"\n# EOF\n")
    assert 'ottla_pipeline_rows_total{query="orders"} 600\n' in text
    assert 'ottla_pipeline_lag_records{query="orders"} 6\n' in text
    assert 'ottla_pipeline_watermark_seconds{query="orders"} 1356998400.0\n' in text
    assert "# TYPE ottla_pipeline_rows_total counter\n" in text


FAILURES = {
    "ottla.pipeline.reading.errors.DataLossError: a-0 has no offsets 2 to 3. All expired\nat x": (
        "orders stopped: a-0 has no offsets 2 to 3. All expired."
    ),
    "Job aborted.\n[USER_RAISED_EXCEPTION] the value at a-0, offset 3, is null SQLSTATE: P0001": (
        "orders stopped: the value at a-0, offset 3, is null."
    ),
    "Caused by: java.io.IOException: No space left on device": (
        "orders stopped: no space is left on the disk of its checkpoint /checks"
    ),
    "Query [id = 1] terminated with exception: it is over\n\nJVM stacktrace:\n at x": (
        "orders stopped: it is over"
    ),
    "Query terminated\nCaused by: first\nCaused by: second\n at x": "orders stopped: second",
    "": "orders stopped: Spark gives no reason",
}


@pytest.mark.parametrize("text", FAILURES)
def test_the_last_cause_of_a_failure_is_reported(text: str) -> None:
    failure = explain("orders", text, Path("/checks"))
    assert failure.message.startswith(FAILURES[text])
    assert "No data is lost" in failure.hints[-1]


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("java.io.IOException: Python worker failed to connect back.", True),
        ("org.apache.spark.SparkException: Task not serializable", True),
        ("org.apache.spark.SparkException: Job aborted due to stage failure", False),
    ],
)
def test_query_is_started_again_after_what_may_pass(text: str, passes: bool) -> None:
    assert is_passing(f"[STREAM_FAILED] Query terminated with exception: {text}") is passes


def test_a_missing_driver_of_a_database_is_named() -> None:
    text = "Job aborted\nCaused by: java.sql.SQLException: No suitable driver\n\tat x"
    place = "table orders of jdbc:postgresql://127.0.0.1/shop"
    failure = explain("orders", text, Path("/checks"), place=place)
    assert failure.message == (
        "orders stopped: no JDBC driver for PostgreSQL: add its jar with "
        "--conf spark.jars=postgresql.jar"
    )
    assert failure.report == text


def test_the_error_of_a_users_function_is_reported() -> None:
    text = (
        "Job aborted\npyspark.errors.X: [PYTHON_EXCEPTION] Traceback (most recent call last):\n"
        '  File "a.py", line 3, in f\nZeroDivisionError: division by zero\n'
    )
    failure = explain("orders", text, Path("/checks"))
    assert failure.message == "orders stopped: ZeroDivisionError: division by zero"
