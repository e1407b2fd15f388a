"""Compares what the files say with what a cluster has. No I/O: states in, a plan out."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.cli.apply.changes import AwaitMoves, Change, Stage, in_order
from ottla.cli.apply.draft import Draft
from ottla.cli.apply.plan_access import plan_acls, plan_users
from ottla.cli.apply.plan_configs import (
    plan_brokers,
    plan_client_metrics,
    plan_cluster,
    plan_groups,
)
from ottla.cli.apply.plan_quotas import plan_quotas
from ottla.cli.apply.plan_topics import plan_topics
from ottla.cli.cluster_file.desired import DesiredState
from ottla.cli.cluster_file.mistakes import Mistake
from ottla.cli.cluster_state.present import PresentState


@dataclass(frozen=True, slots=True)
class ApplyPlan:
    """What to do, in order. With mistakes nothing may be done. `kept` is what is not in the files,
    is managed by them, and stays without --prune. `moving` are topics of the files whose replicas
    are already being moved as the files say."""

    changes: tuple[Change, ...]
    mistakes: tuple[Mistake, ...]
    kept: tuple[str, ...]
    moving: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not self.changes


def make_plan(desired: DesiredState, present: PresentState, *, is_pruning: bool) -> ApplyPlan:
    draft = Draft(is_pruning=is_pruning)
    plan_cluster(draft, desired, present)
    plan_brokers(draft, desired, present)
    plan_topics(draft, desired, present)
    plan_groups(draft, desired, present)
    plan_client_metrics(draft, desired, present)
    plan_users(draft, desired, present)
    plan_acls(draft, desired, present)
    plan_quotas(draft, desired, present)
    moving = tuple(
        name
        for name in sorted(desired.topics)
        if name in present.topics and present.topics[name].is_moving
    )
    draft.changes += _waits(draft.changes, moving)
    return ApplyPlan(
        in_order(draft.changes), tuple(sorted(draft.mistakes)), tuple(draft.kept), moving
    )


def _waits(changes: list[Change], moving: tuple[str, ...]) -> list[Change]:
    """What follows moves of replicas waits for these, and for those of an earlier run."""
    moved = {change.name for change in changes if change.stage is Stage.MOVE_REPLICAS}
    followed = any(
        change.stage in (Stage.ADD_PARTITIONS, Stage.CHANGE_CONFIGS) for change in changes
    )
    awaited = moved | (set(moving) if followed else set())
    return [AwaitMoves(frozenset(awaited))] if awaited else []
