"""An overview as tables and as JSON."""

from __future__ import annotations

from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from ottla.cli.display.cells import NOTHING, count, moment, size
from ottla.cli.display.terminal import new_table
from ottla.cli.top.node_load import NodeLoad
from ottla.cli.top.round import UNREACHABLE, NodeRow, Overview

ROWS_MAX: Final = 5
_STYLES: Final = {
    "ready": "green",
    "serving": "green",
    UNREACHABLE: "red",
    "fenced": "red",
    "no answer": "red",
}
_NODE_TITLES: Final = (
    *("node", "address", "state", "in/s", "out/s", "requests/s", "produce p99", "loop p99"),
    *("memory", "disk", "leads", "under-repl."),
)
_DISK_WARNING: Final = 0.9
_LOOP_WARNING_S: Final = 0.1


def overview_view(overview: Overview) -> RenderableType:
    parts: list[RenderableType] = [_headline(overview)]
    if overview.problem is not None:
        parts.append(Text(overview.problem, style="red"))
    parts.append(_nodes(overview))
    notes = dict.fromkeys(
        f"node {row.id if row.id is not None else row.address}: {row.reason}"
        for row in overview.nodes
        if row.reason is not None
    )
    parts += [Text(note, style="dim") for note in notes]
    if overview.topics:
        parts += ["", _topics(overview)]
    if overview.groups:
        parts += ["", _groups(overview)]
    return Group(*parts)


def overview_json(overview: Overview) -> dict[str, Any]:
    return {
        "time_ms": overview.at_ms,
        "problem": overview.problem,
        "offline_partitions": overview.offline_partitions,
        "nodes": [_node_json(row) for row in overview.nodes],
        "topics": [each._asdict() for each in overview.topics],
        "groups": [each._asdict() for each in overview.groups],
    }


def _node_json(row: NodeRow) -> dict[str, Any]:
    load = {} if row.load is None else row.load._asdict()
    return {
        "node": row.id,
        "address": str(row.address),
        "state": row.state,
        "reason": row.reason,
        **{name: load.get(name) for name in NodeLoad._fields if name not in ("node_id", "state")},
    }


def _headline(overview: Overview) -> Text:
    nodes = overview.nodes
    serving = sum(row.state in ("ready", "serving") for row in nodes)
    line = Text(f"{moment(overview.at_ms)} UTC, {serving} of {count(len(nodes), 'node')} serving")
    lacking = sum(row.load.under_replicated or 0 for row in nodes if row.load is not None)
    if lacking:
        line.append(f", {count(lacking, 'partition')} under-replicated", "yellow")
    if overview.offline_partitions:
        line.append(f", {count(overview.offline_partitions, 'partition')} without a leader", "red")
    return line


def _nodes(overview: Overview) -> RenderableType:
    right = (_NODE_TITLES[0], *_NODE_TITLES[3:])
    table = new_table(*_NODE_TITLES, right=right)
    for row in overview.nodes:
        style = _STYLES.get(row.state, "yellow")
        state = Text(row.state, style=style)
        if row.load is not None and row.load.is_active_controller:
            state.append(", controller", "bold")
        table.add_row(
            NOTHING if row.id is None else str(row.id),
            str(row.address),
            state,
            *_load_cells(row.load),
        )
    return table


def _load_cells(load: NodeLoad | None) -> list[Text | str]:
    if load is None:
        return [NOTHING] * len(_NODE_TITLES[3:])
    return [
        _bytes(load.received_bytes),
        _bytes(load.sent_bytes),
        NOTHING if load.requests is None else f"{load.requests:,.0f}",
        _milliseconds(load.produce_p99_s),
        _warned(
            _milliseconds(load.loop_delay_p99_s), (load.loop_delay_p99_s or 0) > _LOOP_WARNING_S
        ),
        _bytes(load.memory_bytes),
        _warned(
            NOTHING if load.disk_used is None else f"{load.disk_used:.0%}",
            (load.disk_used or 0) > _DISK_WARNING,
        ),
        NOTHING if load.leads is None else f"{load.leads:,}",
        _warned(
            NOTHING if load.under_replicated is None else f"{load.under_replicated:,}",
            bool(load.under_replicated),
        ),
    ]


def _topics(overview: Overview) -> RenderableType:
    titles = ("topic", "in/s", "records/s", "out/s")
    table = new_table(*titles, right=titles[1:])
    for each in overview.topics[:ROWS_MAX]:
        table.add_row(
            each.topic,
            size(each.received_bytes),
            f"{each.received_records:,.0f}",
            size(each.sent_bytes),
        )
    return table


def _groups(overview: Overview) -> RenderableType:
    titles = ("group", "topic", "lag", "behind by")
    table = new_table(*titles, right=titles[2:])
    for each in overview.groups[:ROWS_MAX]:
        table.add_row(each.group, each.topic, f"{each.records:,}", f"{each.seconds:,.0f} s")
    return table


def _bytes(amount: float | None) -> str:
    return NOTHING if amount is None else size(amount)


def _milliseconds(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{seconds * 1_000:,.1f} ms"


def _warned(text: str, is_warning: bool) -> Text:
    return Text(text, style="yellow" if is_warning else "")
