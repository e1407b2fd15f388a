"""Every run of the comparisons, one line of JSON each: what a change did to the ratios."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.figure import Figure

PATH = Path(__file__).resolve().parents[1] / "history.jsonl"
GIBIBYTE = 1 << 30


def append(figures: Sequence[Figure], *, suite: str, quick: bool, path: Path = PATH) -> None:
    run = {
        "suite": suite,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": _commit(),
        "machine": _machine(),
        "quick": quick,
        "figures": [asdict(figure) | {"ratio": figure.ratio} for figure in figures],
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run, ensure_ascii=False) + "\n")


def last(*, suite: str, quick: bool, path: Path = PATH) -> dict[str, float]:
    """The ratios by name of the latest run as long as this one, on a machine like this one."""
    same = (suite, quick, _machine())
    if not path.exists():
        return {}
    for line in reversed(path.read_text(encoding="utf-8").splitlines()):
        run = json.loads(line)
        # The first runs were all of one suite and do not name it.
        if (run.get("suite", "versus"), run["quick"], run["machine"]) == same:
            return {
                figure["name"]: figure["ratio"]
                for figure in run["figures"]
                if figure["ratio"] is not None
            }
    return {}


def _commit() -> str:
    """The commit that was measured, with a + where the work tree differs from it."""
    describe = ["git", "describe", "--always", "--exclude=*", "--dirty=+", "--abbrev=12"]
    done = subprocess.run(describe, cwd=PATH.parent, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def _machine() -> dict[str, str | int]:
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(memory_bytes / GIBIBYTE),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
