"""Runs many seeds on all cores until the time or the number of seeds is used up."""

from __future__ import annotations

import gc
import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import count, islice
from multiprocessing import get_context
from typing import Final

from ottla.simulation.faults.fault_plan import Plan, plan_of
from ottla.simulation.runs.seeded_run import run_plan

_SEEDS_PER_JOB: Final = 2


@dataclass(frozen=True, slots=True)
class SeedResult:
    """The result of a seed, small enough to be sent between processes."""

    seed: int
    violations: tuple[str, ...]
    virtual_seconds: float
    cpu_seconds: float


def play_apart(seed: int) -> SeedResult:
    """Runs a seed in a forked process. A world leaves much garbage, and collecting it would take
    longer than the fork.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writer, "wb") as answer:
                pickle.dump(_played(seed), answer)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        content = answer.read()
    os.waitpid(child, 0)
    if not content:
        return SeedResult(seed, ("TheStoryEnds: its process ended without a result",), 0.0, 0.0)
    result: SeedResult = pickle.loads(content)  # noqa: S301 - from this program itself
    return result


def _played(seed: int) -> SeedResult:
    try:
        return play(seed)
    except Exception as error:
        return SeedResult(seed, (f"TheStoryEnds: {error!r}",), 0.0, 0.0)


def play(seed: int) -> SeedResult:
    before = time.process_time()
    outcome = run_plan(plan_of(seed))
    return SeedResult(
        seed,
        tuple(map(str, outcome.violations)),
        outcome.virtual_seconds,
        time.process_time() - before,
    )


def speed() -> float:
    """Virtual seconds per CPU second: three nodes under moderate load, without faults."""
    plan = Plan(1, 60.0, False, partitions=3, producers=2, faults=())
    run_plan(plan._replace(seconds=5.0))
    before = time.process_time()
    return run_plan(plan).virtual_seconds / (time.process_time() - before)


def sweep(
    *,
    first: int,
    seconds: float,
    seeds_max: int | None,
    jobs: int,
    on_result: Callable[[SeedResult], None],
) -> list[SeedResult]:
    """Runs seeds from `first` on and returns all results. Seeds that have started are finished."""
    deadline, results = _now() + seconds, list[SeedResult]()
    numbers = count(first) if seeds_max is None else iter(range(first, first + seeds_max))
    # Spawned processes, so that they do not inherit this process's memory.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_prepare) as pool:
        running: set[Future[list[SeedResult]]] = set()
        while True:
            while len(running) < jobs and _now() < deadline:
                seeds = next_seeds(numbers)
                if not seeds:
                    break
                running.add(pool.submit(play_all, seeds))
            if not running:
                return results
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                for result in future.result():
                    results.append(result)
                    on_result(result)


def play_all(seeds: Sequence[int]) -> list[SeedResult]:
    return [play_apart(seed) for seed in seeds]


def cores() -> int:
    return os.cpu_count() or 1


def _prepare() -> None:
    """Runs one world to load all modules and fill caches that the forked processes share. Then
    excludes these objects from garbage collection and turns it off, because no world runs long
    enough to need it.
    """
    run_plan(Plan(0, 5.0, False, partitions=1, producers=1, faults=(), members=1, is_secured=True))
    gc.collect()
    gc.freeze()
    gc.disable()


def next_seeds(numbers: Iterator[int]) -> list[int]:
    """The next seeds for one job; consumes only those."""
    return list(islice(numbers, _SEEDS_PER_JOB))


def _now() -> float:
    return time.monotonic()  # noqa: TID251 - how long the host may work, no part of a world
