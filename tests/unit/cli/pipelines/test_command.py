"""`ottla pipelines` without Spark: what it prints, and what it says where something is missing."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.exit_codes import CommandError
from ottla.cli.main import make_app
from ottla.cli.pipelines import choice as pipelines_choice
from ottla.cli.pipelines.choice import PipelineChoice
from ottla.cli.pipelines.run import warn_unreachable
from ottla.cli.pipelines.view import ProgressTable, print_graph, print_graph_json
from ottla.pipeline.running import query_shape
from ottla.pipeline.running.java import NoJavaError
from ottla.pipeline.running.progress import QueryProgress
from ottla.testing import Cluster
from tests.support.captured_terminal import captured_terminal, complained, said

PROGRESS = QueryProgress("delays", 3, 1_200, 2_400.4, 500, 17, 9, None)


def frame(*columns: str) -> Any:
    kind = SimpleNamespace(simpleString=lambda: "int")
    return SimpleNamespace(schema=[SimpleNamespace(name=each, dataType=kind) for each in columns])


def query() -> Any:
    parts = {
        "flights": SimpleNamespace(frame=frame("delay", "origin"), inputs=()),
        "late": SimpleNamespace(frame=frame("delay"), inputs=("flights",)),
    }
    sink = SimpleNamespace(place="topic delays")
    return SimpleNamespace(
        name="delays", sink=sink, mode="append", frame=frame("delay"), parts=parts
    )


def test_a_graph_is_shown_from_its_sink_to_its_sources() -> None:
    terminal = captured_terminal()
    print_graph(terminal, [query()], ["there is no topic delays"])
    assert [line.strip("├└─│ ") for line in said(terminal).splitlines()] == [
        "delays  → topic delays  (append)",
        "delay int",
        "late  ← flights",
        "delay int",
        "flights  (source)",
        "delay int, origin int",
        "✗ there is no topic delays",
    ]


def test_a_graph_is_a_line_of_json_for_each_query_and_mistake(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(query_shape, "sources_of", lambda _: ["topic flights"])
    monkeypatch.setattr(query_shape, "state_of", lambda _: [])
    terminal = captured_terminal()
    print_graph_json(terminal, [query()], ["wrong"])
    found, mistake = map(json.loads, said(terminal).splitlines())
    assert (found["sink"], found["sources"]) == ("topic delays", ["topic flights"])
    assert [part["name"] for part in found["made_of"]] == ["flights", "late"]
    assert mistake == {"mistake": "wrong"}


def test_progress_is_a_line_without_a_terminal() -> None:
    terminal = captured_terminal()
    with ProgressTable(terminal, as_json=False) as table:
        table.show(asdict(PROGRESS))
    assert said(terminal) == (
        "delays: batch 3, rows 1,200, rows/s 2,400, batch time 500 ms, lag 17, state 9, "
        "watermark -\n"
    )


def test_progress_is_json_if_requested_and_a_table_on_a_terminal() -> None:
    terminal = captured_terminal()
    with ProgressTable(terminal, as_json=True) as table:
        table.show(asdict(PROGRESS))
    assert json.loads(said(terminal)) == asdict(PROGRESS)
    terminal = captured_terminal(is_terminal=True)
    with ProgressTable(terminal, as_json=False) as table:
        table.show(asdict(PROGRESS))
    assert "2,400" in said(terminal)
    assert "rows/s" in said(terminal)


def no_java() -> Path:
    raise NoJavaError


@pytest.mark.parametrize("what", ["pyspark", "java"])
def test_what_is_missing_is_named_with_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    if what == "pyspark":
        monkeypatch.setattr(pipelines_choice, "find_spec", lambda _: None)
    monkeypatch.setattr(pipelines_choice, "use_java", no_java)
    with pytest.raises(CommandError) as error:
        PipelineChoice.parse(Path("x.py"), options=ClusterOptions(), master="", configs=None)
    assert what in error.value.message.lower()
    assert "nstall" in error.value.hints[0]


def test_a_mistake_in_the_file_is_reported_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipelines_choice, "use_java", lambda: Path("java"))
    file = tmp_path / "empty.py"
    file.write_text("")
    result = CliRunner().invoke(make_app("pipelines"), ["pipelines", "check", str(file)])
    assert result.exit_code == 1
    assert "defines no sink, so there is nothing to run" in " ".join(result.output.split())


def test_an_unreachable_address_is_reported_before_spark_starts() -> None:
    with Cluster() as cluster:
        terminal = captured_terminal()
        warn_unreachable(cluster.bootstrap, terminal)
        assert not complained(terminal)
    warn_unreachable(cluster.bootstrap, terminal)
    output = complained(terminal)
    assert output.startswith(f"Cannot connect to {cluster.bootstrap}: connection refused.")
    assert "--bootstrap" in output
