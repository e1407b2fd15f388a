"""Runs simulated clusters under faults: many random seeds, or one seed with a trace of its events.

`python -m ottla.simulation` prints the seeds that violate a claim, and exits with 1 if there are
any.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import count
from typing import Final

from ottla.runtime.dice import SystemDice
from ottla.simulation.faults.fault_plan import plan_of
from ottla.simulation.history.trace import trace
from ottla.simulation.runs.reached_lines import PACKAGES, ReachedLines
from ottla.simulation.runs.seeded_run import SeedOutcome, run_plan
from ottla.simulation.runs.shrinking import describe, shrink
from ottla.simulation.runs.sweep import SeedResult, cores, speed, sweep

_REPORT_EVERY: Final = 50
_DESCRIPTION: Final = (
    "Simulate clusters under faults, one run for each seed. Prints the seeds that violate a claim, "
    "and exits with 1 if there are any. With --seed, runs one seed and prints its events."
)


def main() -> int:
    options = _options()
    if options.seed is not None:
        return _replay(options.seed, whole=options.whole, is_shrunk=options.shrink)
    if options.coverage:
        return _cover(options.first or 1, options.seeds or 10)
    return _sweep(options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ottla.simulation", description=_DESCRIPTION)
    parser.add_argument("--seed", type=int, help="run only this seed, and print its events")
    parser.add_argument(
        "--whole",
        action="store_true",
        help="with --seed: print all events, including reads and writes",
    )
    parser.add_argument(
        "--shrink",
        action="store_true",
        help="with --seed: remove faults as long as the same claim still fails",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="without --seed: how long to run (default: %(default)s)",
    )
    parser.add_argument(
        "--first", type=int, help="the first seed; the next ones follow it (default: random)"
    )
    parser.add_argument("--seeds", type=int, help="the maximum number of seeds")
    parser.add_argument(
        "--coverage", action="store_true", help="list the lines of code that no run reaches"
    )
    parser.add_argument(
        "--jobs", type=int, default=cores(), help="number of processes (default: %(default)s)"
    )
    return parser.parse_args()


def _replay(seed: int, *, whole: bool, is_shrunk: bool) -> int:
    plan = plan_of(seed)
    outcome = run_plan(plan, notes=True)
    claims = {violation.claim for violation in outcome.violations}
    if claims and is_shrunk:
        print(f"seed {seed} fails with {len(plan.faults)} faults; shrinking the plan ...")
        plan = shrink(
            plan,
            lambda smaller: claims & {each.claim for each in run_plan(smaller).violations} != set(),
        )
        outcome = run_plan(plan, notes=True)
    print(
        f"seed {seed}: {plan.seconds:.0f} s, {plan.partitions} partitions, "
        f"{plan.producers} producers, {'synced' if plan.is_durable else 'not synced'}"
        f"{', secured' if plan.is_secured else ''}"
    )
    print(describe(plan.faults))
    for line in trace(outcome.history, whole=whole):
        print(line)
    return _verdict(outcome)


def _cover(first: int, seeds: int) -> int:
    lines = ReachedLines()
    for seed in range(first, first + seeds):
        with lines.watching():
            run_plan(plan_of(seed))
    for name, missing in lines.unreached().items():
        print(f"{name[name.index('ottla/') :]}: {', '.join(map(str, missing))}")
    for package in PACKAGES:
        print(f"{package}: {lines.share(package):.1%} of the lines of functions")
    return 0


def _verdict(outcome: SeedOutcome) -> int:
    for violation in outcome.violations[:20]:
        print(f"VIOLATED {violation}")
    if len(outcome.violations) > 20:
        print(f"... and {len(outcome.violations) - 20} more")
    if outcome.is_clean:
        print(f"every claim holds, over {outcome.virtual_seconds:.1f} s of virtual time")
    return 0 if outcome.is_clean else 1


def _sweep(options: argparse.Namespace) -> int:
    first = options.first if options.first is not None else SystemDice().below(10**9)
    print(
        f"seeds from {first} on, in {options.jobs} processes, for {options.seconds:.0f} s",
        flush=True,
    )

    played, hours = count(1), 0.0

    def report(result: SeedResult) -> None:
        nonlocal hours
        hours += result.virtual_seconds / 3_600
        if result.violations:
            print(f"seed {result.seed} FAILS: {result.violations[0]}", flush=True)
        if not (number := next(played)) % _REPORT_EVERY:
            print(f"{number} seeds, {hours:.1f} cluster-hours", flush=True)

    results = sweep(
        first=first,
        seconds=options.seconds,
        seeds_max=options.seeds,
        jobs=options.jobs,
        on_result=report,
    )
    virtual = sum(result.virtual_seconds for result in results)
    cpu = sum(result.cpu_seconds for result in results)
    failed = [result for result in results if result.violations]
    print(
        f"three nodes under moderate load without faults: {speed():.0f} times as fast as the clock"
    )
    print(
        f"{len(results)} seeds, {virtual / 3_600:.2f} cluster-hours in {cpu:.0f} s of processor "
        f"time: {virtual / cpu:.0f} times as fast as the clock on one core"
        if cpu
        else "no seed was run"
    )
    for claim, number in Counter(
        text.partition(":")[0] for result in failed for text in set(result.violations[:1])
    ).items():
        print(f"  {claim}: {number} seeds")
    for result in failed[:10]:
        print(f"  make sim SEED={result.seed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
