from __future__ import annotations

import re
from pathlib import Path

import pytest

from ottla.runtime.huge_pages import gather_memory, huge_starts

HUGE = 2 << 20
ROLLUP = Path("/proc/self/smaps_rollup")


def mapped(start: int, end: int, rights: str = "rw-p", inode: int = 0, name: str = "") -> str:
    return f"{start:x}-{end:x} {rights} 00000000 00:00 {inode} {name}\n"


def test_only_whole_huge_pages_are_taken() -> None:
    maps = [mapped(HUGE - 4096, 4 * HUGE + 4096), mapped(8 * HUGE + 4096, 9 * HUGE)]
    assert list(huge_starts(maps)) == [HUGE, 2 * HUGE, 3 * HUGE]


@pytest.mark.parametrize(
    "line",
    [
        mapped(HUGE, 2 * HUGE, rights="r-xp"),
        mapped(HUGE, 2 * HUGE, rights="rw-s"),
        mapped(HUGE, 2 * HUGE, inode=7, name="/some/file"),
        mapped(HUGE, 2 * HUGE, name="[stack]"),
    ],
)
def test_nor_is_memory_taken_that_is_not_the_heap(line: str) -> None:
    assert list(huge_starts([line])) == []


def test_the_heap_is_taken() -> None:
    assert list(huge_starts([mapped(HUGE, 2 * HUGE, name="[heap]")])) == [HUGE]


@pytest.mark.skipif(not ROLLUP.exists(), reason="this system does not report huge pages")
def test_what_is_in_use_comes_into_huge_pages_and_stays_what_it_is() -> None:
    held = bytearray(range(256)) * (8 * HUGE // 256)
    gathered = gather_memory()
    if not gathered:
        pytest.skip("this kernel has no huge pages to give, or not on demand")
    assert huge_bytes() >= HUGE
    assert held == bytearray(range(256)) * (8 * HUGE // 256)
    assert gather_memory() >= gathered // 2, "what is huge already counts as well"


def huge_bytes() -> int:
    found = re.search(r"AnonHugePages:\s+(\d+) kB", ROLLUP.read_text())
    assert found is not None
    return int(found.group(1)) * 1024
