"""Every planted bug is found by the claim that is there for it, within as many seeds as is said
here; and every claim finds one."""

import pytest

from ottla.simulation.claims.claims import CLAIMS
from ottla.simulation.history.transaction_events import ProducerInitialized
from ottla.simulation.runs.seeded_run import run_plan
from tests.support.mutants.mutants import MUTANTS
from tests.support.mutants.planting import Mutant
from tests.support.mutants.transaction_mutants import running_out_of_epochs
from tests.support.soak import IS_SOAK

SEEDS_MAX = 30
# One of each kind in every run of the tests; all of them take longer.
_ALWAYS = frozenset(
    {
        "never stops leading",
        "counts no follower",
        "knows no duplicates",
        "forgets its vote",
        "skips verification",
        "keeps decisions when ACLs change",
        "keeps no log of a deleted topic",
        "writes a decided batch again",
        "forgets what was released",
        "writes a letter again",
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
        if mutant.found_by.__name__ in {each.claim for each in outcome.violations}:
            return
    pytest.fail(f"{mutant.name}: not found by {mutant.found_by.__name__} in {SEEDS_MAX} seeds")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_what_a_planted_bug_replaces_exists(mutant: Mutant) -> None:
    with mutant.plant():
        pass


def test_there_is_a_bug_for_every_claim() -> None:
    assert {each.found_by for each in MUTANTS} == {type(each) for each in CLAIMS}


@pytest.mark.skipif(not IS_SOAK, reason="all mutants take longer, and so does what is beside them")
def test_nothing_is_wrong_with_producers_that_use_up_their_epochs() -> None:
    """So it is not for their few epochs that the mutant is found."""
    (mutant,) = (each for each in MUTANTS if each.name == "starts epochs over")
    with running_out_of_epochs()():
        outcome = run_plan(mutant.plan(mutant.first_seed))
    assert outcome.is_clean, outcome.violations[0]
    given = {
        (each.transactional_id, each.producer_id)
        for each in outcome.history.of(ProducerInitialized)
    }
    assert len(given) > len({transactional_id for transactional_id, _ in given})
