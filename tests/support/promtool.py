"""Prometheus's own tool as the judge of metrics."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

_SAMPLE = re.compile(r"^(?!#)(.+)$", re.MULTILINE)
_SECONDS_MAX = 60.0


def require_promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed (apt-get install prometheus)")
    return found


def check_prometheus_text(text: str) -> None:
    """Fails if Prometheus cannot read the text, or if a name or a help text breaks its rules."""
    command = [require_promtool(), "check", "metrics"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=_SECONDS_MAX, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr


def check_openmetrics_text(text: str, scratch: Path) -> None:
    """Fails if Prometheus's OpenMetrics parser does not take the text. The one command that uses
    the parser wants a timestamp in each sample."""
    scratch.mkdir(exist_ok=True)
    file = scratch / "metrics.txt"
    file.write_text(_SAMPLE.sub(r"\1 1700000000", text))
    command = [require_promtool(), "tsdb", "create-blocks-from", "openmetrics", str(file)]
    done = subprocess.run(
        [*command, str(scratch / "blocks")],
        capture_output=True,
        text=True,
        timeout=_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
