"""Reading schemas by id, registering new ones, and the memory of an instance.

The instance has one core; the node and the load, processes of their own, have the others. The
processor time of a request does not depend on what else the host does. Then, what it costs a node
to check the schemas of records (checked.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from benchmarks.figure import Figure
from benchmarks.registry import checked
from benchmarks.registry.schemas import schema_text
from benchmarks.versus.comparison import Report
from benchmarks.versus.process_usage import cpu_seconds, resident_bytes
from benchmarks.versus.servers import OttlaServer, fresh
from tests.support.registry.registry_processes import RegistryProcess, running_registries

_READS_MIN: Final = 5_000
_WRITES_MIN: Final = 1_200
_MEMORY_MAX_MB: Final = 80
_READERS: Final = 32
_WRITERS: Final = 100


class _Measured(NamedTuple):
    per_second: float
    cpu_us: float


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    del report, note
    seconds = 2.0 if quick else 10.0
    with (
        _own_core() as core,
        fresh(OttlaServer, {"group.initial.rebalance.delay.ms": "0"}) as server,
    ):
        server.start()
        with running_registries(server.address, 1) as (registry,):
            os.sched_setaffinity(registry.pid, core)
            id_ = registry.register("read", schema_text(0)).body["id"]
            reads = _load(registry, _READERS, seconds, "read", str(id_))
            yield from _figures("schema by id", reads, _READS_MIN)
            writes = _load(registry, _WRITERS, seconds, "register", "s")
            yield from _figures("registrations", writes, _WRITES_MIN)
            memory = resident_bytes(registry.pid) / 1e6
            yield Figure(
                "memory after it",
                memory,
                "MB",
                bound=f"below {_MEMORY_MAX_MB}",
                holds=memory < _MEMORY_MAX_MB,
            )
    yield from checked.figures(quick=quick)


def _figures(name: str, measured: _Measured, least: float) -> Iterator[Figure]:
    rate = measured.per_second
    yield Figure(name, rate, "requests/s", bound=f"at least {least:,}", holds=rate >= least)
    yield Figure(f"{name}: the registry's processor time", measured.cpu_us, "us/request")


def _load(
    registry: RegistryProcess, connections: int, seconds: float, kind: str, what: str
) -> _Measured:
    """Fails if a request is refused."""
    arguments = [str(registry.port), str(connections), str(seconds), kind, what]
    before = cpu_seconds(registry.pid)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.registry.load", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    used = cpu_seconds(registry.pid) - before
    found = json.loads(done.stdout)
    assert not found["refused"], found
    return _Measured(found["per_second"], used / found["answered"] * 1e6)


@contextmanager
def _own_core() -> Iterator[set[int]]:
    """A core for the instance; what is started meanwhile runs on the others."""
    cores = os.sched_getaffinity(0)
    own = {min(cores)}
    os.sched_setaffinity(0, cores - own or cores)
    try:
        yield own
    finally:
        os.sched_setaffinity(0, cores)
