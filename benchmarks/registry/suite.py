"""Reading schemas by id, registering new ones, and the memory of an instance."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.registry.load import http_request, requests_per_second
from benchmarks.versus.comparison import Report
from ottla.testing import Cluster
from tests.support.registry.registry_processes import RegistryProcess, running_registries

_READS_MIN = 5_000
_WRITES_MIN = 1_200
_MEMORY_MAX_MB = 80
_READERS = 32
_WRITERS = 100


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    del report, note
    seconds = 2.0 if quick else 10.0
    with (
        Cluster(properties={"group.initial.rebalance.delay.ms": "0"}) as cluster,
        running_registries(cluster.bootstrap, 1) as (registry,),
    ):
        _pin(registry)
        id_ = registry.register("read", _schema(0)).body["id"]
        request = http_request("GET", f"/schemas/ids/{id_}")
        yield from _figures(
            "schema by id", registry, lambda: request, _READERS, seconds, _READS_MIN
        )
        numbers = iter(range(1, 1_000_000_000))

        def registration() -> bytes:
            number = next(numbers)
            body = json.dumps({"schema": _schema(number)}).encode()
            return http_request("POST", f"/subjects/s{number}/versions", body)

        yield from _figures("registrations", registry, registration, _WRITERS, seconds, _WRITES_MIN)
        memory = _resident_mb(registry.pid)
        yield Figure(
            "memory", memory, "MB", bound=f"< {_MEMORY_MAX_MB}", holds=memory < _MEMORY_MAX_MB
        )


def _figures(
    name: str,
    registry: RegistryProcess,
    next_request: Callable[[], bytes],
    connections: int,
    seconds: float,
    least: float,
) -> Iterator[Figure]:
    """The rate, and what a request takes of the processor, which other programs do not change."""
    count = 0

    def counted() -> bytes:
        nonlocal count
        count += 1
        return next_request()

    before = _processor_seconds(registry.pid)
    rate = asyncio.run(
        requests_per_second(registry.port, counted, connections=connections, seconds=seconds)
    )
    used = _processor_seconds(registry.pid) - before
    yield Figure(name, rate, "requests/s", bound=f">= {least:,}", holds=rate >= least)
    yield Figure(f"{name}, processor time", used / count * 1e6, "us/request")


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _pin(registry: RegistryProcess) -> None:
    """The instance has one core, the node and the load the others."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(registry.pid, {cores[0]})


def _schema(number: int) -> str:
    fields = [{"name": f"field_{index}", "type": ["null", "string"]} for index in range(10)]
    return json.dumps({"type": "record", "name": f"R{number}", "fields": fields})


def _resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1_000
    raise AssertionError("the process is gone")
