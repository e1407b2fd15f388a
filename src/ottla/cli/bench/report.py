"""The results of `ottla bench`, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rich.console import Console

from ottla.cli.bench.latency import Latencies
from ottla.cli.bench.load import BenchLoad, Throughput
from ottla.cli.display.cells import count
from ottla.cli.display.terminal import new_table

MEGABYTE = 1_000_000


class Report(NamedTuple):
    load: BenchLoad
    partitions: int
    produced: Throughput
    consumed: Throughput
    latencies: Latencies


def print_report(console: Console, report: Report) -> None:
    load = report.load
    console.print(
        f"{count(report.partitions, 'partition')}, values of {count(load.value_bytes, 'byte')}, "
        f"acks={load.acks}, compression {load.compression}\n"
    )
    numbers = ("records", "seconds", "records/s", "MB/s")
    table = new_table("throughput", *numbers, right=numbers)
    for name, found in (("produced", report.produced), ("consumed", report.consumed)):
        table.add_row(
            name,
            f"{found.records:,}",
            f"{found.seconds:.2f}",
            f"{found.records_per_s:,.0f}",
            f"{found.bytes_per_s / MEGABYTE:,.1f}",
        )
    console.print(table)
    console.print()
    percentiles = ("p50 ms", "p99 ms", "p99.9 ms", "max ms")
    table = new_table(
        f"latency at {load.rate:,}/s", "records", *percentiles, right=("records", *percentiles)
    )
    for name, latency in report.latencies._asdict().items():
        table.add_row(name, f"{latency.records:,}", *(f"{value:.2f}" for value in latency[1:]))
    console.print(table)


def report_json(report: Report) -> Iterator[dict[str, Any]]:
    load = report.load
    conditions = {
        "partitions": report.partitions,
        "value_bytes": load.value_bytes,
        "acks": load.acks,
        "compression": load.compression,
    }
    for test, found in (("produce", report.produced), ("consume", report.consumed)):
        yield {
            "test": test,
            "records": found.records,
            "bytes": found.size_in_bytes,
            "seconds": round(found.seconds, 3),
            "records_per_s": round(found.records_per_s),
            "bytes_per_s": round(found.bytes_per_s),
        } | conditions
    for until, latency in report.latencies._asdict().items():
        fields = {name: round(value, 3) for name, value in latency._asdict().items()}
        yield {"test": "latency", "until": until, "rate": load.rate} | fields | conditions
