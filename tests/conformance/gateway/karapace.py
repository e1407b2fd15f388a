"""Runs Karapace's own tests of its REST proxy on a gateway, a registry and a cluster of ours.

python -m tests.conformance.gateway.karapace DIR [PYTEST-OPTION ...]

DIR is what scripts/fetch-karapace makes. FINDINGS.md says which tests fail, and why.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ottla.testing import Cluster
from tests.support.nodes.nodes import OTTLA
from tests.support.web.gateway_process import running_gateway_process

_TESTS = "tests/integration/kafka_rest_apis"


def main(directory: Path, options: list[str]) -> int:
    if not (directory / "venv").exists():
        print("Karapace's tests are not there: skipped.")
        return 0
    with Cluster() as cluster:
        command = [str(OTTLA), "registry", "--bootstrap", cluster.bootstrap, "--listen=127.0.0.1:0"]
        registry = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert registry.stdout is not None
        try:
            url = registry.stdout.readline().split()[2]
            with running_gateway_process(
                cluster.bootstrap, [f"--schema-registry={url}"]
            ) as gateway:
                return subprocess.run(
                    [
                        *("venv/bin/python", "-m", "pytest", "-q", "-W", "ignore"),
                        *("-n", "2", "--timeout=120", "-p", "no:cacheprovider"),
                        *("--rest-url", gateway.url, "--registry-url", url),
                        *("--kafka-bootstrap-servers", cluster.bootstrap, _TESTS, *options),
                    ],
                    cwd=directory,
                    env={**os.environ, "PYTHONPATH": "src:."},
                ).returncode
        finally:
            registry.terminate()
            registry.wait()
            registry.stdout.close()


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
