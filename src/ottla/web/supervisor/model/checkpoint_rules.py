"""Whether a new version of a definition can go on with the checkpoint of the version before.

A checkpoint belongs to a query, by its name. It has the offsets of the query's sources, by their
order, and the state of its operators, by their order and layout. So a query may change its filters
and columns freely, but not its sources, nor what has state. These are Spark's own rules; it does
not check all of them, and would go on with wrong results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ottla.web.supervisor.model.deployment import QueryShape


class CheckpointVerdict(NamedTuple):
    """`reasons` say why the checkpoint cannot be kept; `notes` what else the user should know."""

    reasons: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def can_be_kept(self) -> bool:
        return not self.reasons


def compare(old: Sequence[QueryShape], new: Sequence[QueryShape]) -> CheckpointVerdict:
    reasons: list[str] = []
    notes: list[str] = []
    before = {each.name: each for each in old}
    after = {each.name: each for each in new}
    for name, query in after.items():
        if name not in before:
            notes.append(f"the query {name} is new, and begins at the start of its sources")
        else:
            reasons += _reasons(before[name], query)
            if before[name].sink != query.sink:
                notes.append(
                    f"{name} goes on in {query.sink}; what was written to {before[name].sink} stays"
                )
    notes += [f"the query {name} is removed" for name in before if name not in after]
    return CheckpointVerdict(tuple(reasons), tuple(notes))


def _reasons(old: QueryShape, new: QueryShape) -> list[str]:
    reasons = []
    if old.sources != new.sources:
        reasons.append(
            f"{new.name} reads {_listed(new.sources)}, but the checkpoint has offsets of "
            f"{_listed(old.sources)}"
        )
    if old.state != new.state:
        reasons.append(
            f"{new.name} keeps the state {_listed(new.state)}, but the checkpoint has "
            f"{_listed(old.state)}"
        )
    if old.mode != new.mode and (old.state or new.state):
        reasons.append(
            f"{new.name} has the mode {new.mode}, but its state was made in the mode {old.mode}"
        )
    return reasons


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
