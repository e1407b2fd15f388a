"""Definitions without Spark: what is registered, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.pipeline import Files, Jdbc, Topic, sink, source, view
from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.jdbc import merge
from ottla.pipeline.definitions.registry import (
    Registry,
    SinkDefinition,
    SourceDefinition,
    ViewDefinition,
    registering,
)
from ottla.pipeline.running.loading import load
from tests.support.spark.pipelines import definition

TOPIC = Topic("orders")


def rows(rows: object) -> object:
    return rows


def test_definitions_are_registered_in_their_order_with_what_they_take() -> None:
    registry = Registry()
    with registering(registry):
        source(TOPIC)(rows)

        @view
        def large(rows: object) -> object:
            return rows

        @sink(TOPIC, mode="update", every="1 minute")
        def kept(large: object) -> object:
            return large

    assert [*registry.definitions] == ["rows", "large", "kept"]
    kinds = [type(each) for each in registry.definitions.values()]
    assert kinds == [SourceDefinition, ViewDefinition, SinkDefinition]
    (only,) = registry.sinks
    assert (only.inputs, only.mode, only.every) == (("large",), "update", "1 minute")


def test_without_a_registry_a_decorated_function_is_a_function() -> None:
    assert view(rows) is rows
    assert source(TOPIC)(rows)(7) == 7


MISTAKES = {
    """
    @source(Topic("orders"))
    def orders(rows): return rows

    @view
    def large(ordrs): return ordrs
    """: "large takes ordrs, but no source or view with this name is defined above it; did "
    "you mean orders",
    """
    @source(Topic("orders"))
    def orders(): pass
    """: "the source orders must take one argument, its rows",
    """
    @source(Topic("orders"))
    def orders(rows): return rows

    @view
    def orders(): return "SELECT 1"
    """: "orders is defined twice",
    """
    @source(Topic("orders"))
    def orders(rows): return rows

    @sink(Topic("out"), mode="upsert")
    def out(orders): return orders
    """: "the sink out has the unknown mode 'upsert'; use one of append, update, complete",
    """
    @source(Topic("orders"))
    def orders(rows): return rows

    @sink(Topic("out"))
    def out(orders): return orders

    @view
    def again(out): return out
    """: "again takes out, which is a sink; take the input of out instead",
    """
    @source(Topic("orders"))
    def orders(rows): return rows
    """: "defines no sink, so there is nothing to run",
    "x = 1 / 0": r"line 3: ZeroDivisionError: division by zero",
    "def broken(:": r"line 3: SyntaxError",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_reported_with_what_to_do(tmp_path: Path, text: str) -> None:
    with pytest.raises(DefinitionError, match=MISTAKES[text]):
        load(definition(tmp_path / "mistaken.py", text))


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"nothing\.py does not exist"):
        load(tmp_path / "nothing.py")


def test_a_file_that_is_not_a_python_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "delays.txt").touch()
    for name in ("delays.txt", "."):
        with pytest.raises(DefinitionError, match="is not a Python file"):
            load(tmp_path / name)


def test_modules_beside_a_definition_are_its_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "beside.py").write_text(f"NAME = '{name}'")
        text = """
        from beside import NAME

        @source(Topic(NAME))
        def orders(rows): return rows

        @sink(Topic("out"))
        def out(orders): return orders
        """
        registry = load(definition(tmp_path / name / "shop.py", text))
        orders = registry.definitions["orders"]
        assert isinstance(orders, SourceDefinition)
        assert orders.connector.topics == (name,)


def test_connectors_refuse_what_they_cannot_do() -> None:
    with pytest.raises(DefinitionError, match="format 'xml'; use one of json, csv"):
        Files("/tmp", "xml")
    with pytest.raises(DefinitionError, match="Jdbc has the key"):
        Jdbc("jdbc:postgresql:shop", "totals", ())


def test_a_merge_updates_what_is_there_and_inserts_what_is_not_with_the_last_row_of_a_key() -> None:
    assert merge("t", staging="s", columns=["a", "b"], key=["a"], number="n") == (
        "MERGE INTO t AS target USING (SELECT a, b FROM (SELECT a, b, ROW_NUMBER() OVER "
        "(PARTITION BY a ORDER BY n DESC) AS ottla_turn FROM s) AS ranked WHERE ottla_turn = 1) "
        "AS staged ON target.a = staged.a "
        "WHEN MATCHED THEN UPDATE SET b = staged.b "
        "WHEN NOT MATCHED THEN INSERT (a, b) VALUES (staged.a, staged.b)"
    )
