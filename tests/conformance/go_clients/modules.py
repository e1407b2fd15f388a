"""Modules of Go with their tests, from Go's module proxy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

HERE: Final = Path(__file__).resolve().parent
# The broker whose features the tests expect.
KAFKA_VERSION: Final = "4.0.0"
_GO: Final = "go"
_TIMEOUT_SECONDS: Final = 600.0
_SHOWN_CHARACTERS: Final = 6_000
_SARAMA: Final = "github.com/IBM/sarama"


class GoTest(NamedTuple):
    """A line of tests.allow."""

    module: str
    version: str
    name: str
    package: str = "."

    def __str__(self) -> str:
        return f"{self.module.rpartition('/')[2]} {self.name}"

    def run(self, bootstrap: str, scratch: Path) -> None:
        """Raises AssertionError, with the end of the output, if the test does not pass."""
        source = scratch / "module"
        self._copy(source)
        tags = []
        if self.module == _SARAMA:
            tags = ["-tags", "functional"]
            _replace_environment(source)
        else:
            _replace_address(source, bootstrap)
        command = ["test", *tags, "-run", f"^{self.name}$", "-v", "-count", "1", self.package]
        environment = {
            "OTTLA_BOOTSTRAP": bootstrap,
            "KAFKA_VERSION": KAFKA_VERSION,
            # Of franz-go's tests: one node, and fewer records than the half million of a soak.
            "KGO_SEEDS": bootstrap,
            "KGO_TEST_RF": "1",
            "KGO_TEST_RECORDS": "20000",
        }
        ran = _go(command, source, environment)
        output = ran.stdout + ran.stderr
        assert ran.returncode == 0, output[-_SHOWN_CHARACTERS:]
        # Also a name that no test has would pass.
        assert f"--- PASS: {self.name}" in output, output[-_SHOWN_CHARACTERS:]

    def _copy(self, to: Path) -> None:
        """The module's files, which the proxy gives with its tests, in a directory to change."""
        wanted = f"{self.module}@{self.version}"
        ran = _go(["mod", "download", "-json", wanted], to.parent, {})
        assert ran.returncode == 0, ran.stdout + ran.stderr
        shutil.copytree(json.loads(ran.stdout)["Dir"], to, copy_function=shutil.copyfile)
        for path in (to, *to.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)


def allowed() -> list[GoTest]:
    lines = (HERE / "tests.allow").read_text().splitlines()
    return [GoTest(*line.split()) for line in lines if line and not line.startswith("#")]


def reason_unavailable() -> str | None:
    """Why the tests do not run here, or None where they do."""
    if os.environ.get("OTTLA_CONFORM") != "1":
        return "the tests of clients in Go are downloaded and compiled: run `make conform`"
    return None if shutil.which(_GO) else "there is no Go on this host"


def _replace_environment(source: Path) -> None:
    """Gives sarama's own functions other names; ours take their places."""
    path = source / "functional_test.go"
    text = path.read_text()
    for name in ("TestMain", "setupFunctionalTest", "teardownFunctionalTest"):
        text = text.replace(f"func {name}(", f"func sarama{name}(")
    path.write_text(text)
    shutil.copyfile(HERE / "sarama_environment.go", source / "environment_test.go")


def _replace_address(source: Path, bootstrap: str) -> None:
    for path in source.glob("*_test.go"):
        text = path.read_text()
        path.write_text(text.replace('TCP("localhost")', f'TCP("{bootstrap}")'))


def _go(
    arguments: list[str], directory: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_GO, *arguments],
        cwd=directory,
        env={**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", **environment},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )
