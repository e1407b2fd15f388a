"""The parts of the demonstration that count and draw: what is wrong does not pass for right."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest

from ottla.cli.demo.pipeline_process import PipelineProcess
from ottla.cli.demo.plot import draw, weekly_delays
from ottla.cli.demo.proof import PunctualityGroup, Totals, check_each_once, plain_counts

PLANES = [{"tailnum": "N1", "manufacturer": "BOEING", "model": "737"}]


def flight(tailnum: str, day: int, delay: int) -> dict[str, Any]:
    scheduled = f"2013-01-{day:02}T10:00:00+00:00"
    place = {"carrier": "UA", "origin": "JFK", "dest": "ORD"}
    return {**place, "flight": 7, "tailnum": tailnum, "delay": delay, "scheduled": scheduled}


FLIGHTS = [flight("N1", 1, 5), flight("N1", 1, 7), flight("N2", 1, -3), flight("N1", 9, 20)]


def test_a_plain_count_is_by_airport_maker_and_day() -> None:
    assert plain_counts(FLIGHTS, PLANES) == {
        PunctualityGroup("JFK", "BOEING", "2013-01-01"): Totals(2, 12),
        PunctualityGroup("JFK", "unknown", "2013-01-01"): Totals(1, -3),
        PunctualityGroup("JFK", "BOEING", "2013-01-09"): Totals(1, 20),
    }


def table(flights: list[dict[str, Any]]) -> pa.Table:
    rows = [
        {
            **each,
            "scheduled": datetime.fromisoformat(each["scheduled"]),
            "manufacturer": "BOEING" if each["tailnum"] == "N1" else "unknown",
        }
        for each in flights
    ]
    return pa.Table.from_pylist(rows)


def test_a_table_has_each_flight_once() -> None:
    check_each_once(table(FLIGHTS), FLIGHTS, PLANES)
    for wrong in ([*FLIGHTS, FLIGHTS[0]], FLIGHTS[1:], [*FLIGHTS[1:], FLIGHTS[1]]):
        with pytest.raises(AssertionError, match="missing or duplicated"):
            check_each_once(table(wrong), FLIGHTS, PLANES)


def test_delays_are_means_of_weeks_and_a_line_is_drawn_for_each_airport() -> None:
    counts = plain_counts(FLIGHTS, PLANES) | {
        PunctualityGroup("LGA", "x", "2014-01-01"): Totals(2, -30)
    }
    lines = weekly_delays(counts)
    assert lines == {"JFK": {0: 3.0, 1: 20.0}, "LGA": {51: -15.0}}
    drawn = ElementTree.fromstring(draw("Late", lines))
    space = "{http://www.w3.org/2000/svg}"
    assert len(drawn.findall(f"{space}polyline")) == 2
    texts = [each.text for each in drawn.findall(f"{space}text")]
    assert {"Late", "JFK", "LGA", "Jan"} < set(texts)
    assert "-20 min" in " ".join(text.strip() for text in texts if text)


def test_a_batch_that_is_done_again_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    process = PipelineProcess(tmp_path / "x.py", "localhost:9092", tmp_path)
    assert process.rows() == {}

    def line(batch_id: int, rows: int) -> str:
        return json.dumps({"query": "table", "batch_id": batch_id, "rows": rows}) + "\n"

    file.write_text(line(0, 10) + line(1, 5)[:8])
    assert process.rows() == {"table": 10}
    file.write_text(line(0, 10) + line(1, 5)[:8] + "\n" + line(1, 7) + line(1, 7))
    assert process.rows() == {"table": 17}
