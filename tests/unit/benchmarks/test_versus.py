"""What the comparison with Apache Kafka concludes from its samples; it measures nothing itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.figure import Figure
from benchmarks.versus import history
from benchmarks.versus.comparison import Bound, alternate, compared, unbound
from benchmarks.versus.process_usage import cpu_seconds, resident_bytes
from benchmarks.versus.servers import KafkaServer, OttlaServer, Server

SIDES: list[type[Server]] = [OttlaServer, KafkaServer]


def test_sides_take_turns() -> None:
    turns: list[str] = []
    samples = alternate(
        SIDES,
        lambda side: turns.append(side.name) or len(turns),  # type: ignore[func-returns-value]
        rounds=2,
        what="",
        report=lambda _: None,
    )
    assert turns == ["Ottla", "Apache Kafka"] * 2
    assert samples == {"Ottla": [1, 3], "Apache Kafka": [2, 4]}


def test_medians_are_compared_not_the_best_rounds() -> None:
    samples = {"Ottla": [30.0, 10.0, 20.0], "Apache Kafka": [10.0, 99.0, 10.0]}
    figure = compared("produce", "MB/s", samples, float, Bound(ratio_min=1.5))
    assert (figure.value, figure.against, figure.ratio) == (20.0, 10.0, 2.0)
    assert figure.holds


def test_one_side_alone_breaks_no_ratio_but_can_break_its_own_bound() -> None:
    alone = {"Ottla": [7.0]}
    p99 = compared("p99", "ms", alone, float, Bound(ratio_max=0.5))
    assert (p99.bound, p99.holds) == ("", True)
    assert not compared("restart", "s", alone, float, Bound(value_max=5)).holds


@pytest.mark.parametrize(
    ("bound", "ours", "holds"),
    [
        (Bound(ratio_min=1.5), 15, True),
        (Bound(ratio_min=1.5), 14, False),
        (Bound(ratio_max=0.5), 5, True),
        (Bound(ratio_max=0.5), 6, False),
        (Bound(value_max=5), 4, True),
        (Bound(value_max=5), 5, False),
        (Bound(), 1_000, True),
    ],
)
def test_bound_holds_up_to_its_edge(bound: Bound, ours: float, holds: bool) -> None:
    assert bound.holds(ours, 10) is holds


def test_figure_of_a_limiting_client_has_no_bound() -> None:
    figure = unbound(Figure("consume", 1, "MB/s", against=2, bound=">= 1 times", holds=False))
    assert figure.holds
    assert not figure.bound


def test_history_returns_the_last_run_of_the_same_length(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    assert history.last(suite="versus", quick=True, path=path) == {}
    for quick, value in ((True, 1.0), (True, 3.0), (False, 8.0)):
        alone = Figure("idle", 1, "% CPU")
        figures = [Figure("start", value, "s", against=2), alone]
        history.append(figures, suite="versus", quick=quick, path=path)
    assert history.last(suite="versus", quick=True, path=path) == {"start": 1.5}
    assert history.last(suite="versus", quick=False, path=path) == {"start": 4.0}


def test_usage_counts_children() -> None:
    before = resident_bytes(os.getpid())
    held = "import sys; held = bytes(1) * 50_000_000; print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert resident_bytes(os.getpid()) > before + 40_000_000
        child.communicate()
    assert cpu_seconds(os.getpid()) > 0
