"""Writes ops/grafana/ottla.json from the table of panels: `make dashboard`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from scripts.dashboard_panels import ROWS, Panel

FILE: Final = Path(__file__).resolve().parents[1] / "ops" / "grafana" / "ottla.json"
_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
# Grafana's grid has 24 columns.
_GRID_COLUMNS: Final = 24
_GRAPH: Final = (8, 8)
_NUMBER: Final = (4, 4)


def dashboard_text() -> str:
    return json.dumps(_dashboard(), indent=1) + "\n"


def _dashboard() -> dict[str, Any]:
    return {
        "title": "Ottla",
        "uid": "ottla",
        "tags": ["ottla"],
        "schemaVersion": 38,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {
            "list": [
                {"name": "source", "type": "datasource", "query": "prometheus", "label": "Source"},
                _choice("cluster", "label_values(ottla_node_info, cluster)"),
                _choice("node", 'label_values(ottla_node_info{cluster=~"$cluster"}, instance)'),
            ]
        },
        "panels": list(_panels()),
    }


def _choice(name: str, query: str) -> dict[str, Any]:
    """All of them at first. Targets without the label have an empty one, which `.*` matches."""
    return {
        "name": name,
        "label": name.capitalize(),
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
    }


def _panels() -> Iterator[dict[str, Any]]:
    """Row by row; each row begins below the last one."""
    number, top = 0, 0
    for title, panels in ROWS.items():
        number += 1
        position = {"x": 0, "y": top, "w": _GRID_COLUMNS, "h": 1}
        yield {"id": number, "type": "row", "title": title, "gridPos": position, "panels": []}
        top, left, height = top + 1, 0, 0
        for panel in panels:
            number += 1
            width, height = _NUMBER if panel.is_number else _GRAPH
            if left + width > _GRID_COLUMNS:
                left, top = 0, top + height
            yield _panel(number, panel, {"x": left, "y": top, "w": width, "h": height})
            left += width
        top += height


def _panel(number: int, panel: Panel, position: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": "stat" if panel.is_number else "timeseries",
        "title": panel.title,
        "description": panel.description,
        "gridPos": position,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "targets": [
            {
                "refId": "A",
                "datasource": _SOURCE,
                "expr": panel.expression,
                "legendFormat": panel.legend,
                "instant": panel.is_number,
                "range": not panel.is_number,
            }
        ],
    }


if __name__ == "__main__":
    FILE.write_text(dashboard_text())
