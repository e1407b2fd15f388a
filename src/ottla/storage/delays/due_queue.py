"""The held records of a partition by due time, with bounded memory.

    add ──▶ fresh (a heap in memory) ──full──▶ runs (sorted files) ──many──▶ merged into one run
                     │                              │
                     └──────── the smallest ◀───────┘ ──▶ pop

Memory has at most `FRESH_MAX` entries, and one block of each run: a few MB for any number of held
records. An entry is written once for each level of merging, so a million entries are written
twice. Runs are merged outside of the event loop while the queue is used: what is taken meanwhile
is what the merged run begins with, so it is counted and skipped.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final, NamedTuple

from ottla.runtime.disk import Disk
from ottla.storage.delays.due_entry import DueEntry
from ottla.storage.delays.due_run import FILE_SUFFIX, DueRun, MergePart, write_run

FRESH_MAX: Final = 4_096
# These many of the fresh entries stay in memory: the earliest.
_KEPT: Final = FRESH_MAX // 4
RUNS_MAX: Final = 32


class Merge(NamedTuple):
    """A merge that has begun: the arguments of `merge_runs`, and what `complete_merge` needs."""

    parts: tuple[MergePart, ...]
    path: str


class DueQueue:
    """Owned by the leader of a partition, on its event loop. After an `OSError` it may have lost
    entries, and has to be made again. `name` begins the names of its files: two queues of one
    directory, of which one is being closed, have different ones."""

    def __init__(self, disk: Disk, directory: str, name: str) -> None:
        self.disk = disk
        self._directory = directory
        self._name = name
        self._fresh: list[DueEntry] = []
        # The first entry of each run, and the run's number.
        self._heads: list[tuple[DueEntry, int]] = []
        self._runs: dict[int, DueRun] = {}
        self._merging: tuple[int, ...] = ()
        self._numbers = 0
        remove_runs(disk, directory)

    def __len__(self) -> int:
        """The number of entries, removals included."""
        stored = sum(run.count - run.taken for run in self._runs.values())
        return len(self._fresh) + stored

    @property
    def run_count(self) -> int:
        return len(self._runs)

    def add(self, entry: DueEntry) -> None:
        heappush(self._fresh, entry)
        if len(self._fresh) > FRESH_MAX:
            self._spill()

    def first(self) -> DueEntry | None:
        """The entry that is due first. Removals and what they remove are dropped before."""
        while True:
            entry = self._smallest()
            if entry is None or not entry.is_removal:
                return entry
            self._take()
            following = self._smallest()
            if (
                following is not None
                and following.offset == entry.offset
                and following.due_ms == entry.due_ms
            ):
                self._take()

    def pop(self) -> DueEntry:
        """Takes what `first` has returned."""
        entry = self._take()
        assert not entry.is_removal
        return entry

    def close(self) -> None:
        """Removes all files."""
        for run in self._runs.values():
            run.remove(self.disk)
        self._runs.clear()
        self._heads.clear()

    # ---- merging

    @property
    def has_to_merge(self) -> bool:
        return len(self._runs) > RUNS_MAX and not self._merging

    def begin_merge(self) -> Merge | None:
        """A merge that is to be run by a worker, or None while there are few runs."""
        if self._merging or len(self._runs) <= RUNS_MAX:
            return None
        self._merging = tuple(self._runs)
        parts = tuple(MergePart(run.file.path, run.taken, run.count) for run in self._runs.values())
        return Merge(parts, self._new_path())

    def complete_merge(self, merge: Merge, count: int) -> None:
        """Replaces the runs by the one that the worker has written."""
        taken = 0
        for number, part in zip(self._merging, merge.parts, strict=True):
            run = self._runs.pop(number, None)
            # A run that was used up meanwhile is already removed.
            taken += (part.end if run is None else run.taken) - part.start
            if run is not None:
                run.remove(self.disk)
        self._merging = ()
        self._add_run(DueRun(self.disk.open(merge.path), count, taken=taken))
        self._heads = [
            (entry, number)
            for number, run in self._runs.items()
            if (entry := run.first()) is not None
        ]
        self._heads.sort()

    # ---- entries

    def _smallest(self) -> DueEntry | None:
        if not self._heads:
            return self._fresh[0] if self._fresh else None
        head = self._heads[0][0]
        return min(head, self._fresh[0]) if self._fresh else head

    def _take(self) -> DueEntry:
        fresh, heads = self._fresh, self._heads
        if not heads or (fresh and fresh[0] < heads[0][0]):
            return heappop(fresh)
        entry, number = heappop(heads)
        run = self._runs[number]
        run.take()
        following = run.first()
        if following is not None:
            heappush(heads, (following, number))
        elif number not in self._merging:
            # A worker may be reading a run that is merged.
            del self._runs[number]
            run.remove(self.disk)
        return entry

    def _spill(self) -> None:
        self._fresh.sort()
        run = write_run(self.disk, self._new_path(), self._fresh[_KEPT:])
        del self._fresh[_KEPT:]
        self._add_run(run)

    def _add_run(self, run: DueRun) -> None:
        self._numbers += 1
        head = run.first()
        if head is None:
            run.remove(self.disk)
            return
        self._runs[self._numbers] = run
        heappush(self._heads, (head, self._numbers))

    def _new_path(self) -> str:
        self._numbers += 1
        return f"{self._directory}/{self._name}-{self._numbers}{FILE_SUFFIX}"


def remove_runs(disk: Disk, directory: str) -> None:
    """Removes what an earlier leader or a killed process has left."""
    for name in disk.list_directory(directory):
        if name.endswith(FILE_SUFFIX):
            disk.remove(f"{directory}/{name}")
