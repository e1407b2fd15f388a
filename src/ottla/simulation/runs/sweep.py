"""Many seeds over all cores, until the time is over or one fails."""

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
    """A seed that was played: small enough to come back from another process."""

    seed: int
    violations: tuple[str, ...]
    virtual_seconds: float
    cpu_seconds: float


def play_apart(seed: int) -> SeedResult:
    """In a process of its own, which ends with it: a world leaves much behind, and to look through
    all of that for what can be let go of takes longer than a copy of this process."""
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
        return SeedResult(seed, ("TheStoryEnds: its process did not say how",), 0.0, 0.0)
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
    """How many times as fast as the clock three nodes under moderate load run, without faults."""
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
    """Plays seeds from `first` on. Returns all results; what was begun is finished."""
    deadline, results = _now() + seconds, list[SeedResult]()
    numbers = count(first) if seeds_max is None else iter(range(first, first + seeds_max))
    # New processes, whose memory no run before has filled.
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
    """What is loaded stays, and need not be looked at again. No world lasts long enough to need its
    garbage collected. One is played first, for all of them to share what is made on first use."""
    run_plan(Plan(0, 5.0, False, partitions=1, producers=1, faults=(), members=1))
    gc.collect()
    gc.freeze()
    gc.disable()


def next_seeds(numbers: Iterator[int]) -> list[int]:
    """Takes no more of them than it returns."""
    return list(islice(numbers, _SEEDS_PER_JOB))


def _now() -> float:
    return time.monotonic()  # noqa: TID251 - how long the host may work, no part of a world
