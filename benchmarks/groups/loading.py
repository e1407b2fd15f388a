"""A coordinator that starts over ten thousand offsets, each committed many times: how long after
its first answer it has returned the last of them.

All of them are in one partition of `__consumer_offsets`. Once its segments are so small that it is
compacted before, and once it is one segment, to which everything was only added.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.figure import Figure
from benchmarks.groups.amount import Amount
from benchmarks.groups.committing import KEYS, commit, wait_committed
from benchmarks.versus.comparison import Bound, Report, compared
from benchmarks.versus.servers import Server, fresh

LOADED_S_MAX = 5.0
_ONE_PARTITION = {"offsets.topic.num.partitions": "1"}
_COMPACTING = {"offsets.topic.segment.bytes": "1048576", "log.cleaner.backoff.ms": "500"}
_COMPACTED_S_MAX = 180.0
_PAUSE_S = 0.2
# Compacted is what takes less than so many commits of each offset would, with a segment or two to
# which commits are still added.
_COMMITS_LEFT_MAX = 5
_COMMIT_BYTES = 75


def figures(kinds: Sequence[type[Server]], amount: Amount, report: Report) -> Iterator[Figure]:
    for how, configs in (("compacted", _COMPACTING), ("not compacted", {})):
        what = f"{amount.commits:,} commits of {KEYS:,} offsets load ({how})"
        samples: dict[str, list[float]] = {}
        for kind in kinds:
            report(f"{what}: {kind.name}")
            samples[kind.name] = [_round(kind, configs, amount)]
        yield compared(what, "s", samples, lambda seconds: seconds, Bound(value_max=LOADED_S_MAX))


def _round(kind: type[Server], configs: Mapping[str, str], amount: Amount) -> float:
    with fresh(kind, {**_ONE_PARTITION, **configs}) as server:
        server.start()
        asyncio.run(commit(server.address, amount.commits))
        if configs:
            _wait_compacted(server)
        server.stop()
        server.start()
        answering = time.perf_counter()
        asyncio.run(wait_committed(server.address, amount.commits))
        return time.perf_counter() - answering


def _wait_compacted(server: Server) -> None:
    directory = server.scratch / "data" / "__consumer_offsets-0"
    deadline = time.perf_counter() + _COMPACTED_S_MAX
    while time.perf_counter() < deadline:
        size = 0
        for path in directory.glob("*.log"):
            # One may be replaced between its name and its size.
            size += path.stat().st_size if path.exists() else 0
        if size < KEYS * _COMMITS_LEFT_MAX * _COMMIT_BYTES:
            return
        time.sleep(_PAUSE_S)
    raise TimeoutError(f"{server.name} has not compacted {directory} in {_COMPACTED_S_MAX:g} s")
