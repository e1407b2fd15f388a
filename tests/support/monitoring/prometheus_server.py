"""A real Prometheus, which scrapes nodes and evaluates the rules of ops/prometheus."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

import pytest
import yaml

from tests.support.monitoring.scraping import get
from tests.support.nodes.cluster_processes import free_ports, wait_until
from tests.support.nodes.node_listeners import HOST

RULES: Final = Path(__file__).resolve().parents[3] / "ops" / "prometheus" / "rules.yml"
_SCRAPE_INTERVAL: Final = "2s"
_EVALUATION_INTERVAL: Final = "1s"
# One scrape that a busy machine delays is not yet an alert.
_HASTY_FOR: Final = "3s"


def require_prometheus() -> str:
    found = shutil.which("prometheus")
    if found is None:
        pytest.skip("prometheus is not installed (apt-get install prometheus)")
    return found


def hasty_rules(*, patient: Sequence[str], thresholds: Mapping[str, tuple[str, str]]) -> str:
    """The rules with a few seconds for which a condition must hold, except for the alerts in
    `patient`; and with other thresholds: by alert, what is replaced and by what."""
    rules = yaml.safe_load(RULES.read_text())
    replaced = set()
    for rule in (rule for group in rules["groups"] for rule in group["rules"]):
        name = rule.get("alert")
        if "for" in rule and name not in patient:
            rule["for"] = _HASTY_FOR
        if name in thresholds:
            usual, other = thresholds[name]
            assert rule["expr"].endswith(usual), rule["expr"]
            rule["expr"] = rule["expr"].removesuffix(usual) + other
            replaced.add(name)
    assert replaced == thresholds.keys()
    return str(yaml.safe_dump(rules))


class PrometheusServer:
    """Runs during its `with`."""

    def __init__(self, scratch: Path, rules: str, ports: Sequence[int]) -> None:
        self._program = require_prometheus()
        scratch.mkdir()
        (scratch / "rules.yml").write_text(rules)
        config = {
            "global": {
                "scrape_interval": _SCRAPE_INTERVAL,
                "evaluation_interval": _EVALUATION_INTERVAL,
                "scrape_timeout": _SCRAPE_INTERVAL,
            },
            "rule_files": ["rules.yml"],
            "scrape_configs": [
                {
                    "job_name": "ottla",
                    "static_configs": [{"targets": [f"{HOST}:{port}" for port in ports]}],
                }
            ],
        }
        (scratch / "prometheus.yml").write_text(yaml.safe_dump(config))
        self._scratch = scratch
        (self._port,) = free_ports(1)

    def __enter__(self) -> Self:
        with (self._scratch / "log.txt").open("w") as log:
            self._process = subprocess.Popen(
                [
                    self._program,
                    f"--config.file={self._scratch / 'prometheus.yml'}",
                    f"--storage.tsdb.path={self._scratch / 'data'}",
                    f"--web.listen-address={HOST}:{self._port}",
                    "--log.level=warn",
                ],
                stdout=log,
                stderr=log,
                text=True,
            )
        wait_until(lambda: self._get("/-/ready").startswith("Prom"), "Prometheus is ready")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            print(f"firing: {sorted(self.firing())}")
            print((self._scratch / "log.txt").read_text())
        self._process.kill()
        self._process.wait()

    def firing(self) -> set[str]:
        """The alerts that fire now."""
        answer = json.loads(self._get("/api/v1/alerts"))
        return {
            each["labels"]["alertname"]
            for each in answer["data"]["alerts"]
            if each["state"] == "firing"
        }

    def wait_firing(self, *alerts: str) -> None:
        def are_firing() -> bool:
            return set(alerts) <= self.firing()

        wait_until(are_firing, f"{', '.join(alerts)} fire")

    def query(self, expression: str) -> list[Any]:
        answer = json.loads(self._get(f"/api/v1/query?query={quote(expression)}"))
        assert answer["status"] == "success", answer
        found: list[Any] = answer["data"]["result"]
        return found

    def value(self, expression: str) -> float:
        """Of an expression with one result; 0 without any."""
        found = self.query(expression)
        return float(found[0]["value"][1]) if found else 0.0

    def fired_so_far(self) -> set[str]:
        """All alerts that have fired at any time."""
        found = self.query('max_over_time(ALERTS{alertstate="firing"}[1h])')
        return {each["metric"]["alertname"] for each in found}

    def _get(self, path: str) -> str:
        return get((HOST, self._port), path).text
