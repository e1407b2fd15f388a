"""Metrics of the process and the host: read on a worker, because the system may take its time."""

from __future__ import annotations

import gc
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple

from ottla.metrics import Counter, Metrics, Sample
from ottla.metrics.table import process as table
from ottla.metrics.table import storage
from ottla.runtime.clock import Clock
from ottla.runtime.disk import Disk
from ottla.runtime.process_facts import ProcessFacts, process_facts

_NOTHING: Final = ProcessFacts(0.0, 0, 0, 0, 0, 0.0)


class DiskSpace(NamedTuple):
    free_bytes: int
    size_bytes: int


class HostFacts(NamedTuple):
    process: ProcessFacts
    # By log directory; without those that cannot be read.
    disks: dict[str, DiskSpace]


def host_facts(disk: Disk, paths: Sequence[str]) -> HostFacts:
    disks = {}
    for path in paths:
        try:
            disks[path] = DiskSpace(disk.space_left(path), disk.space_total(path))
        except OSError:
            continue
    return HostFacts(process_facts(), disks)


class ProcessMetrics:
    """Registers its sources when it is made. `facts` is replaced before the metrics are read."""

    def __init__(self, metrics: Metrics, clock: Clock) -> None:
        self.facts = HostFacts(_NOTHING, {})
        self._collecting = _GcTime(metrics.counter(table.GC_SECONDS), clock)
        self.version = _version()
        for family, source in (
            (table.BUILD_INFO, self._build),
            (table.CPU_SECONDS, lambda: [((), self.facts.process.cpu_seconds)]),
            (table.RESIDENT_MEMORY, lambda: [((), self.facts.process.resident_bytes)]),
            (table.VIRTUAL_MEMORY, lambda: [((), self.facts.process.virtual_bytes)]),
            (table.OPEN_FILES, lambda: [((), self.facts.process.open_files)]),
            (table.OPEN_FILES_MAX, lambda: [((), self.facts.process.open_files_max)]),
            (table.START_TIME, lambda: [((), self.facts.process.started_at)]),
            (table.GC_COLLECTIONS, _collections),
            (storage.DISK_FREE, self._free),
            (storage.DISK_SIZE, self._sizes),
        ):
            metrics.measure(family, source)

    def close(self) -> None:
        self._collecting.close()

    def _build(self) -> list[Sample]:
        return [((self.version, platform.python_version()), 1)]

    def _free(self) -> Iterator[Sample]:
        for path, space in self.facts.disks.items():
            yield (path,), space.free_bytes

    def _sizes(self) -> Iterator[Sample]:
        for path, space in self.facts.disks.items():
            yield (path,), space.size_bytes


class _GcTime:
    """Counts the time of garbage collections, until `close`."""

    def __init__(self, seconds: Counter, clock: Clock) -> None:
        self._seconds = seconds
        self._monotonic = clock.monotonic
        self._started = 0.0
        gc.callbacks.append(self._collected)

    def close(self) -> None:
        gc.callbacks.remove(self._collected)

    def _collected(self, phase: str, _info: dict[str, Any]) -> None:
        if phase == "start":
            self._started = self._monotonic()
        else:
            self._seconds.add(self._monotonic() - self._started)


def _collections() -> Iterator[Sample]:
    for generation, statistics in enumerate(gc.get_stats()):
        yield (str(generation),), statistics["collections"]


def _version() -> str:
    try:
        return version("ottla")
    except PackageNotFoundError:
        return "unknown"
