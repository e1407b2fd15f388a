"""The Grafana dashboard: made from its table, of metrics that exist, and Prometheus can evaluate
each panel."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import yaml

from scripts.dashboard_panels import ROWS
from scripts.grafana_dashboard import FILE, dashboard_text
from tests.support.monitoring.expressions import unknown_names
from tests.support.promtool import require_promtool

PANELS = [panel for row in ROWS.values() for panel in row]


def test_the_dashboard_is_up_to_date() -> None:
    assert FILE.read_text() == dashboard_text(), "run: make dashboard"


def test_panels_name_metrics_and_labels_that_exist() -> None:
    for panel in PANELS:
        assert unknown_names(panel.expression) == [], panel.title
        assert panel.description.endswith("."), panel.title


def test_legends_name_labels_that_the_series_have() -> None:
    for panel in PANELS:
        grouped = re.findall(r"\bby \(([^)]*)\)", panel.expression)
        for label in re.findall(r"{{(\w+)}}", panel.legend):
            # A series that is not aggregated has all labels.
            assert not grouped or any(label in each.split(", ") for each in grouped), panel.title


def test_prometheus_can_parse_each_expression(tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{index}", "expr": _without_choices(panel.expression)}
        for index, panel in enumerate(PANELS)
    ]
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    done = subprocess.run(
        [require_promtool(), "check", "rules", str(file)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(FILE.read_text())["panels"]:
        place = panel["gridPos"]
        cells = {
            (place["x"] + column, place["y"] + line)
            for column in range(place["w"])
            for line in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells


def _without_choices(expression: str) -> str:
    return (
        expression.replace("$__rate_interval", "1m")
        .replace("$cluster", ".*")
        .replace("$node", ".*")
    )
