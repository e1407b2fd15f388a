"""confluent-kafka-python's own registry tests and serialisers pass, but for what FINDINGS.md says.

`make conform-registry` fetches and runs them.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ottla.testing import Cluster
from tests.support.registry.registry_processes import running_registries

ROOT = Path(__file__).resolve().parents[3]
DIRECTORY = ROOT / ".cache" / "registry"
SUITES = ("_sync", "_async")
# About version 7.0.1 of Confluent's platform, which answered another code: FINDINGS.md.
NOT_OURS = "not kafka_cluster_cp_7_0_1"
SECONDS_MAX = 600


@pytest.mark.parametrize("suite", SUITES)
def test_confluents_tests_pass(suite: str) -> None:
    if os.environ.get("OTTLA_CONFORM") != "1":
        pytest.skip("takes a minute, and needs `make conform-registry`")
    if not (DIRECTORY / "confluent.ready").exists():
        pytest.skip("run: scripts/fetch-registry-tests .cache/registry")
    source = DIRECTORY / "confluent"
    plugins = Path(__file__).parent
    with (
        Cluster(properties={"group.initial.rebalance.delay.ms": "0"}) as cluster,
        running_registries(cluster.bootstrap, 1) as (registry,),
    ):
        done = subprocess.run(
            [
                str(DIRECTORY / "environment/bin/python"),
                *("-m", "pytest", "-q", "--timeout", "60", "-p", "no:cacheprovider"),
                *("-o", "asyncio_mode=auto", "-p", "byo_registry", "-k", NOT_OURS),
                f"tests/integration/schema_registry/{suite}",
            ],
            cwd=source,
            env={
                **os.environ,
                "BROKERS": cluster.bootstrap,
                "SR_URL": registry.url,
                "PYTHONPATH": f"{source}:{plugins}",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_MAX,
        )
    print(done.stdout[-2_000:])
    assert done.returncode == 0, done.stdout[-8_000:]
