"""franz-go's client of registries (pkg/sr) works with ours: the checks are in franz_go/main.go."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ottla.testing import Cluster
from tests.support.registry.registry_processes import running_registries

PROGRAM = Path(__file__).parent / "franz_go"
SECONDS_MAX = 300


def built(directory: Path) -> Path:
    """The program. Skips if Go or the client's module cannot be had."""
    if os.environ.get("OTTLA_CONFORM") != "1":
        pytest.skip("takes a while, and needs `make conform-registry`")
    if shutil.which("go") is None:
        pytest.skip("needs Go")
    program = directory / "franz_go"
    command = ["go", "build", "-o", str(program), "."]
    done = subprocess.run(command, cwd=PROGRAM, capture_output=True, text=True, timeout=SECONDS_MAX)
    if done.returncode and ("dial tcp" in done.stderr or "lookup " in done.stderr):
        pytest.skip("needs Go's module proxy")
    assert not done.returncode, done.stderr
    return program


def test_franz_gos_client_works(tmp_path: Path) -> None:
    program = built(tmp_path)
    with (
        Cluster(properties={"group.initial.rebalance.delay.ms": "0"}) as cluster,
        running_registries(cluster.bootstrap, 1) as (registry,),
    ):
        done = subprocess.run(
            [str(program), registry.url], capture_output=True, text=True, timeout=SECONDS_MAX
        )
    assert not done.returncode, done.stdout + done.stderr
    assert done.stdout.count("ok ") > 40
