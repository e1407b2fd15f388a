"""Shrinks a failing plan: removes faults as long as the plan still fails.

The faults of a plan are independent (fault_plan.py), so removing one leaves the others unchanged.
First it removes halves, then quarters, and so on down to single faults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ottla.simulation.faults.fault_plan import Plan, PlannedFault


def shrink(plan: Plan, fails: Callable[[Plan], bool], *, tries_max: int = 100) -> Plan:
    """The smallest failing plan found within `tries_max` tries. The given plan has to fail."""
    tries = 0
    piece = max(len(plan.faults) // 2, 1)
    while plan.faults:
        start, has_shrunk = 0, False
        while start < len(plan.faults) and tries < tries_max:
            rest = (*plan.faults[:start], *plan.faults[start + piece :])
            tries += 1
            if fails(plan._replace(faults=rest)):
                plan, has_shrunk = plan._replace(faults=rest), True
            else:
                start += piece
        if tries >= tries_max or (piece == 1 and not has_shrunk):
            break
        piece = max(piece // 2, 1)
    return plan


def describe(faults: Sequence[PlannedFault]) -> str:
    """One line for each fault."""
    return "\n".join(f"  {fault}" for fault in faults) or "  no fault at all"
