"""Importing the seams is quick, because what is slow to import is imported when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("imported", "kept_out"),
    [
        ("ottla.runtime", "asyncio"),
        ("ottla.runtime", "concurrent.futures"),
        ("ottla.runtime", "ctypes"),
        ("ottla.runtime.system_background", "multiprocessing"),
    ],
)
def test_importing_the_seams_imports_nothing_slow(imported: str, kept_out: str) -> None:
    program = f"import sys, {imported}; sys.exit({kept_out!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
