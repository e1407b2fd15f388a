"""Objects that last as long as the process do not make garbage collections slow."""

from __future__ import annotations

import gc
import time

from ottla.runtime.allocator import exclude_present_objects, lasting_objects

OBJECTS = 200_000


def collection_seconds() -> float:
    started = time.thread_time()
    gc.collect()
    return time.thread_time() - started


def test_objects_that_exist_are_not_collected_again() -> None:
    lasting = [[number] for number in range(OBJECTS)]
    slow = collection_seconds()
    exclude_present_objects()
    try:
        assert gc.get_freeze_count() >= OBJECTS
        assert collection_seconds() < slow / 2
    finally:
        gc.unfreeze()
    assert len(lasting) == OBJECTS


def test_objects_that_are_made_for_the_life_of_the_process_are_not_collected_at_all() -> None:
    with lasting_objects():
        assert not gc.isenabled()
        lasting = [[number] for number in range(OBJECTS)]
    try:
        assert gc.isenabled()
        assert gc.get_freeze_count() >= len(lasting)
    finally:
        gc.unfreeze()
