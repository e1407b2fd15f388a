"""The rules for Prometheus: it accepts them, they name metrics that exist, and each alert says what
it means and leads to what to do."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.monitoring.expressions import recorded_names, unknown_names
from tests.support.promtool import require_promtool

ROOT = Path(__file__).resolve().parents[2]
PROMETHEUS = ROOT / "ops" / "prometheus"
OPERATIONS = ROOT / "docs" / "operations.md"
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((PROMETHEUS / "rules.yml").read_text())["groups"]
    for rule in group["rules"]
]
ALERTS = {rule["alert"]: rule for rule in RULES if "alert" in rule}
RECORDED = {rule["record"] for rule in RULES if "record" in rule}
_SECTION = re.compile(r"^#### (Ottla\w+)\n(.*?)(?=^#{1,4} |\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(_SECTION.findall(OPERATIONS.read_text()))


@pytest.mark.parametrize(
    "command",
    [
        ("check", "rules", "rules.yml"),
        ("test", "rules", "rules_test.yml"),
        ("check", "config", "prometheus.yml"),
    ],
    ids=" ".join,
)
def test_prometheus_accepts_the_rules(command: tuple[str, ...]) -> None:
    done = subprocess.run(
        [require_promtool(), *command], cwd=PROMETHEUS, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_name_metrics_and_labels_that_exist() -> None:
    for rule in RULES:
        assert unknown_names(rule["expr"]) == [], rule
        assert recorded_names(rule["expr"]) <= RECORDED, rule


def test_a_metric_or_label_that_does_not_exist_is_found() -> None:
    expression = 'rate(ottla_missing_total[5m]) > ottla_offline_partitions{topic="ottla_text"}'
    assert unknown_names(expression) == ["ottla_missing_total", "topic"]


def test_each_alert_fires_in_a_test_of_the_rules() -> None:
    tested = set(re.findall(r'alertname="(\w+)"', (PROMETHEUS / "rules_test.yml").read_text()))
    assert tested == ALERTS.keys()


def test_each_alert_has_a_summary_a_severity_and_a_section_of_the_documentation() -> None:
    assert SECTIONS.keys() == ALERTS.keys()
    for name, rule in ALERTS.items():
        assert rule["labels"].keys() == {"severity"}
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"]["summary"].endswith("."), name
        assert rule["annotations"]["runbook"] == f"docs/operations.md#{name.lower()}"


def test_each_section_of_an_alert_says_what_it_means_and_what_to_do() -> None:
    for name, text in SECTIONS.items():
        assert "**Means:** " in text, name
        assert "**Do:** " in text, name
