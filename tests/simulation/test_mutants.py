"""Every planted bug is found, within as many seeds as is said here."""

import pytest

from ottla.simulation.seeded_run import run_plan
from tests.mutants import MUTANTS
from tests.planting import Mutant
from tests.soak import IS_SOAK

SEEDS_MAX = 30
# One of each kind in every run of the tests; all of them take longer.
_ALWAYS = frozenset(
    {
        "never stops leading",
        "counts no follower",
        "knows no duplicates",
        "forgets its vote",
        "skips verification",
    }
)


@pytest.mark.parametrize(
    "mutant",
    [each for each in MUTANTS if IS_SOAK or each.name in _ALWAYS],
    ids=lambda mutant: mutant.name,
)
def test_a_planted_bug_is_found(mutant: Mutant) -> None:
    for seed in range(mutant.first_seed, mutant.first_seed + SEEDS_MAX):
        with mutant.plant():
            outcome = run_plan(mutant.plan(seed))
        if not outcome.is_clean:
            return
    pytest.fail(f"{mutant.name}: nobody noticed in {SEEDS_MAX} seeds")
