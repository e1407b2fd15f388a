"""What the comparison of clusters concludes from its samples; it starts no node."""

from pathlib import Path

import pytest

from benchmarks.cluster.steady_producer import covered_s, longest_gap_s
from benchmarks.figure import Figure
from benchmarks.versus import history
from benchmarks.versus.comparison import Bound, compared


@pytest.mark.parametrize(
    ("acknowledged_s", "gap_s"),
    [
        pytest.param([1.0, 2.0, 10.0, 11.0, 12.5], 8.0, id="over the fault"),
        pytest.param([1.0, 8.0, 9.0, 11.0, 12.5], 2.0, id="one before the fault does not count"),
        pytest.param([1.0, 9.0, 9.5], 3.5, id="one that lasts ends now"),
    ],
)
def test_longest_gap_is_of_what_came_since_the_fault(
    acknowledged_s: list[float], gap_s: float
) -> None:
    assert longest_gap_s(acknowledged_s, since_s=9.75, now_s=13.0) == gap_s


def test_worst_round_breaks_a_bound_that_the_median_holds() -> None:
    samples = {"Ottla": [0.5, 3.0, 0.5], "Apache Kafka": [8.0, 9.0, 8.0]}
    bound = Bound(value_max=2)
    assert compared("gap", "s", samples, float, bound).holds
    worst = compared("gap", "s", samples, float, bound, of_rounds=max)
    assert (worst.value, worst.against, worst.holds) == (3.0, 9.0, False)


def test_history_keeps_suites_apart(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for suite, value in (("versus", 2.0), ("cluster", 6.0)):
        figures = [Figure("start", value, "s", against=2)]
        history.append(figures, suite=suite, quick=True, path=path)
    assert history.last(suite="versus", quick=True, path=path) == {"start": 1.0}
    assert history.last(suite="cluster", quick=True, path=path) == {"start": 3.0}


def test_time_that_several_gaps_share_counts_once() -> None:
    assert covered_s([(1.0, 3.0), (2.0, 4.0), (2.5, 3.5), (10.0, 10.5)]) == 3.5
    assert covered_s([]) == 0.0
