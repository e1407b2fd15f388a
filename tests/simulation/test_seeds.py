"""Whole clusters under faults: seeds that were interesting once, and some that nobody has seen."""

import time

import pytest

from ottla.simulation.faults.fault_plan import Plan, PlannedFault, plan_of
from ottla.simulation.history.history import Fault
from ottla.simulation.history.two_phase_events import BatchCommitted
from ottla.simulation.runs.seeded_run import SeedOutcome, run_plan

# Short, and together they have every kind of fault.
_FIXED = (156, 433, 444, 547)
_FRESH = 3


@pytest.mark.parametrize("seed", _FIXED)
def test_every_claim_holds_for_a_fixed_seed(seed: int) -> None:
    _check(seed)


@pytest.mark.parametrize("number", range(_FRESH))
def test_every_claim_holds_for_a_fresh_seed(number: int) -> None:
    _check(time.time_ns() // 1_000 % 10**9 * _FRESH + number)


def test_what_a_failed_sync_left_in_the_page_cache_is_not_trusted() -> None:
    """Syncs fail, the process starts again, and then the power goes; first found by seed 10028."""
    faults = (
        PlannedFault(3.9, "failing_disk", 0.9, 1),
        PlannedFault(5.5, "lose_power_all", 2.5, 1),
        PlannedFault(9.9, "failing_disk", 0.9, 101),
        PlannedFault(11.5, "lose_power_all", 1.5, 1),
    )
    _check_plan(Plan(1, 14.0, True, partitions=3, producers=3, faults=faults))


def test_groups_of_both_protocols_lose_nothing_to_a_coordinator_that_ends() -> None:
    faults = (
        PlannedFault(4.0, "pause_member", 7.0, 1),
        PlannedFault(7.0, "kill", 3.0, 2),
        PlannedFault(11.0, "lose_power", 3.0, 3),
    )
    _check_plan(
        Plan(1, 15.0, True, partitions=3, producers=1, faults=faults, members=2, classic_members=2)
    )


def test_copies_in_transactions_are_exact_whatever_becomes_of_their_coordinators() -> None:
    faults = (
        PlannedFault(3.0, "kill", 2.0, 1, node_id=1),
        PlannedFault(5.0, "elect", 1.0, 16),
        PlannedFault(6.0, "pause", 3.0, 2, node_id=2),
        PlannedFault(9.0, "stop", 1.0, 3, node_id=3),
    )
    _check_plan(Plan(1, 12.0, False, partitions=2, producers=1, faults=faults, copiers=2))


def test_batches_in_two_phases_are_exact_whoever_dies() -> None:
    """Drivers and tasks die, pause and are replaced in every run with queries."""
    faults = (
        PlannedFault(3.0, "kill", 2.0, 1, node_id=1),
        PlannedFault(6.0, "pause", 3.0, 2, node_id=2),
        PlannedFault(8.0, "elect", 1.0, 16),
        PlannedFault(10.0, "stop", 1.0, 3, node_id=3),
    )
    plan = Plan(1, 20.0, False, partitions=1, producers=1, faults=faults, queries=2)
    outcome = _check_plan(plan)
    committed = {(each.query, each.batch_id) for each in outcome.history.of(BatchCommitted)}
    assert len(committed) > 5
    assert any(each.who.startswith("driver-") for each in outcome.history.of(Fault))


def test_voters_nodes_and_features_change_under_load() -> None:
    faults = (
        PlannedFault(2.5, "change_voters", 1.0, 4, node_id=4),
        PlannedFault(3.0, "change_nodes", 3.0, 5),
        PlannedFault(4.0, "change_feature", 1.0, 6),
        PlannedFault(9.0, "kill", 2.0, 7),
    )
    _check_plan(Plan(2, 15.0, False, partitions=2, producers=1, faults=faults, nodes=4, voters=3))


def test_acls_and_credentials_change_while_leaders_and_controllers_move() -> None:
    faults = (
        PlannedFault(2.5, "change_credential", 0.5, 11),
        PlannedFault(3.0, "change_acls", 1.0, 1),
        PlannedFault(3.5, "change_token", 0.3, 5),
        PlannedFault(4.0, "kill", 1.5, 2),
        PlannedFault(4.5, "change_acls", 0.5, 2),
        PlannedFault(6.0, "part", 4.0, 3),
        PlannedFault(7.0, "change_acls", 1.0, 3),
        PlannedFault(8.0, "change_acls", 0.5, 4),
    )
    plan = Plan(3, 11.0, False, partitions=2, producers=1, faults=faults, members=2, copiers=1)
    _check_plan(plan._replace(is_secured=True))


def _check(seed: int) -> None:
    _check_plan(plan_of(seed))


def _check_plan(plan: Plan) -> SeedOutcome:
    outcome = run_plan(plan)
    violations = "\n".join(map(str, outcome.violations[:5]))
    assert outcome.is_clean, f"make sim SEED={plan.seed}\n{violations}"
    return outcome
