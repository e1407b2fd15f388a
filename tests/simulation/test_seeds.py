"""Whole clusters under faults: seeds that were interesting once, and some that nobody has seen."""

import time

import pytest

from ottla.simulation.fault_plan import plan_of
from ottla.simulation.seeded_run import run_plan

# Short, and together they have every kind of fault.
_FIXED = (7, 8, 11, 23)
_FRESH = 3


@pytest.mark.parametrize("seed", _FIXED)
def test_every_claim_holds_for_a_fixed_seed(seed: int) -> None:
    _check(seed)


@pytest.mark.parametrize("number", range(_FRESH))
def test_every_claim_holds_for_a_fresh_seed(number: int) -> None:
    _check(time.time_ns() // 1_000 % 10**9 * _FRESH + number)


def _check(seed: int) -> None:
    outcome = run_plan(plan_of(seed))
    told = "\n".join(map(str, outcome.violations[:5]))
    assert outcome.is_clean, f"make sim SEED={seed}\n{told}"
