"""Runs Karapace's own tests of its schema registry on a registry and a cluster of ours.

python -m tests.conformance.registry.karapace DIR [PYTEST-OPTION ...]

DIR is what scripts/fetch-karapace makes. FINDINGS.md says which tests fail, and why.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ottla.testing import Cluster
from tests.support.registry.registry_processes import running_registries

# Those that speak to a registry from outside; the others start Karapace's.
_TESTS = (
    "test_client.py",
    "test_client_protobuf.py",
    "test_dependencies_compatibility_protobuf.py",
    "test_jsonschema.py",
    "test_schema.py",
    "test_schema_avro_references.py",
    "test_schema_compatibility.py",
    "test_schema_protobuf.py",
    "test_schema_registry_mode.py",
)


def main(directory: Path, options: list[str]) -> int:
    if not (directory / "venv").exists():
        print("Karapace's tests are not there: skipped.")
        return 0
    with (
        Cluster(properties={"group.initial.rebalance.delay.ms": "0"}) as cluster,
        running_registries(cluster.bootstrap, 1) as (registry,),
    ):
        return subprocess.run(
            [
                *("venv/bin/python", "-m", "pytest", "-q", "-W", "ignore"),
                # One after the other: they use the same names.
                *("--timeout=120", "-p", "no:cacheprovider", "-p", "clean_registry"),
                *("--registry-url", registry.url, "--kafka-bootstrap-servers", cluster.bootstrap),
                *(f"tests/integration/{name}" for name in _TESTS),
                *options,
            ],
            cwd=directory,
            env={**os.environ, "PYTHONPATH": f"src:.:{Path(__file__).parent}"},
        ).returncode


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
