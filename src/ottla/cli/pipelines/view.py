"""How pipelines look: what they are made of, and how they are getting on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.live import Live
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ottla.cli.display.terminal import Terminal, new_table

if TYPE_CHECKING:
    from ottla.pipeline.running.graph import Query

_TITLES = ("query", "batch", "rows", "rows/s", "batch time", "lag", "state", "watermark")


def print_graph(terminal: Terminal, queries: Sequence[Query], mistakes: Sequence[str]) -> None:
    for query in queries:
        tree = Tree(Text.assemble((query.name, "bold"), f"  → {query.sink.place}  ({query.mode})"))
        tree.add(Text(_schema(query.frame), style="dim"))
        for name, part in reversed([*query.parts.items()]):
            made_of = f"  ← {', '.join(part.inputs)}" if part.inputs else "  (source)"
            branch = tree.add(Text.assemble((name, "cyan"), made_of))
            branch.add(Text(_schema(part.frame), style="dim"))
        terminal.stdout.print(tree)
    for mistake in mistakes:
        terminal.stdout.print(Text(f"✗ {mistake}", style="red"), soft_wrap=True)


def print_graph_json(terminal: Terminal, queries: Sequence[Query], mistakes: Sequence[str]) -> None:
    from ottla.pipeline.running.query_shape import sources_of, state_of

    for query in queries:
        parts = [
            {"name": name, "inputs": list(part.inputs), "schema": _schema(part.frame)}
            for name, part in query.parts.items()
        ]
        sink = {
            "query": query.name,
            "sink": query.sink.place,
            "mode": query.mode,
            "sources": sources_of(query),
            "state": state_of(query),
        }
        terminal.print_json({**sink, "schema": _schema(query.frame), "made_of": parts})
    for mistake in mistakes:
        terminal.print_json({"mistake": mistake})


def _schema(frame: Any) -> str:
    return ", ".join(f"{each.name} {each.dataType.simpleString()}" for each in frame.schema)


class ProgressTable:
    """A row for each query, updated on a terminal; otherwise lines, or JSON if requested."""

    def __init__(self, terminal: Terminal, *, as_json: bool) -> None:
        self._terminal = terminal
        self._as_json = as_json
        self._latest: dict[str, Mapping[str, Any]] = {}
        self._live: Live | None = None
        if terminal.stdout.is_terminal and not as_json:
            self._live = Live(self._table(), console=terminal.stdout, auto_refresh=False)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Mapping[str, Any]) -> None:
        self._latest[progress["query"]] = progress
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
        elif self._as_json:
            self._terminal.print_json(progress)
            self._terminal.stdout.file.flush()
        else:
            self._terminal.stdout.print(_line(progress), soft_wrap=True)

    def note(self, text: str) -> None:
        self._terminal.notice(text)

    def _table(self) -> Table:
        table = new_table(*_TITLES, right=_TITLES[1:-1])
        for each in self._latest.values():
            table.add_row(*_cells(each))
        return table


def _cells(progress: Mapping[str, Any]) -> tuple[str, ...]:
    lag = progress["lag"]
    return (
        progress["query"],
        str(progress["batch_id"]),
        f"{progress['rows']:,}",
        f"{progress['rows_per_second']:,.0f}",
        f"{progress['batch_ms']:,} ms",
        "-" if lag is None else f"{lag:,}",
        f"{progress['state_rows']:,}",
        progress["watermark"] or "-",
    )


def _line(progress: Mapping[str, Any]) -> str:
    query, *rest = zip(_TITLES, _cells(progress), strict=True)
    return f"{query[1]}: " + ", ".join(f"{title} {cell}" for title, cell in rest)
