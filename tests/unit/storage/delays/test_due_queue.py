"""A queue of held records against a sorted list."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.simulation import SimulatedDisk
from ottla.storage.delays import due_queue
from ottla.storage.delays.due_entry import DueEntry
from ottla.storage.delays.due_queue import DueQueue
from ottla.storage.delays.due_run import merge_runs


def make_queue(disk: SimulatedDisk | None = None) -> DueQueue:
    disk = disk or SimulatedDisk()
    disk.make_directories("/log")
    return DueQueue(disk, "/log", "1")


def entry(due_ms: int, offset: int) -> DueEntry:
    return DueEntry(due_ms, offset, 10, offset * 10, 1_000, 7)


def drain(queue: DueQueue) -> list[DueEntry]:
    found = []
    while queue.first() is not None:
        found.append(queue.pop())
    return found


def test_more_than_fits_into_memory_comes_out_in_order() -> None:
    queue = make_queue()
    entries = [entry(at * 7_919 % 20_011, at) for at in range(20_000)]
    for each in entries:
        queue.add(each)

    assert queue.run_count > 1
    assert drain(queue) == sorted(entries)
    assert queue.run_count == 0


def test_used_up_runs_leave_no_files() -> None:
    disk = SimulatedDisk()
    queue = make_queue(disk)
    for at in range(10_000):
        queue.add(entry(at, at))
    assert disk.list_directory("/log")
    drain(queue)

    assert disk.list_directory("/log") == []


def test_files_of_a_killed_leader_are_removed() -> None:
    disk = SimulatedDisk()
    queue = make_queue(disk)
    for at in range(10_000):
        queue.add(entry(at, at))
    again = make_queue(disk)

    assert disk.list_directory("/log") == []
    assert again.first() is None


def test_a_removal_takes_one_entry_out() -> None:
    queue = make_queue()
    for offset in range(3):
        queue.add(entry(5, offset))
    queue.add(DueEntry(5, 1))
    queue.add(DueEntry(4, 9))

    assert [each.offset for each in drain(queue)] == [0, 2]


class _Steps:
    """Random steps on a queue, and the same on a list."""

    def __init__(self) -> None:
        self.queue = make_queue()
        self.naive: list[DueEntry] = []
        self.merge: due_queue.Merge | None = None
        self.count = 0
        self.next_offset = 0

    def add(self, due_ms: int) -> None:
        new = entry(due_ms, self.next_offset)
        self.next_offset += 1
        self.queue.add(new)
        self.naive = sorted([*self.naive, new])

    def take(self) -> None:
        first = self.queue.first()
        if first is None:
            assert not self.naive
            return
        assert self.queue.pop() == first == self.naive.pop(0)

    def remove(self, at: int) -> None:
        if self.naive:
            removed = self.naive.pop(at % len(self.naive))
            self.queue.add(DueEntry(removed.due_ms, removed.offset))

    def work(self) -> None:
        """Begins a merge, or completes the one that has begun."""
        if self.merge is None:
            self.merge = self.queue.begin_merge()
            if self.merge is not None:
                self.count = merge_runs(self.queue.disk, self.merge.parts, self.merge.path)
        else:
            self.queue.complete_merge(self.merge, self.count)
            self.merge = None


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 50)),
        st.tuples(st.just("add"), st.integers(0, 50)),
        st.tuples(st.just("take"), st.none()),
        st.tuples(st.just("remove"), st.integers(0, 1_000)),
        st.tuples(st.just("work"), st.none()),
    ),
    max_size=120,
)


@settings(deadline=None, max_examples=150)
@given(steps=_STEPS)
def test_a_queue_with_little_memory_is_a_sorted_list(
    steps: list[tuple[str, int | None]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(due_queue, "FRESH_MAX", 6)
        patch.setattr(due_queue, "_KEPT", 2)
        patch.setattr(due_queue, "RUNS_MAX", 2)
        both = _Steps()
        for name, argument in steps:
            method = getattr(both, name)
            method() if argument is None else method(argument)
        while both.naive:
            both.take()
        assert both.queue.first() is None
