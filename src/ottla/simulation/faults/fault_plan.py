"""The plan of a run: its settings and faults, drawn from the seed before the run starts.

A plan is a list of values, so that shrinking.py can try smaller plans and a person can write one.
Each fault has a number, the seed of its own random choices, so removing one fault does not change
the others.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.simulation.seams.dice import SeededDice

# Relative frequencies of the fault kinds.
_WEIGHTS: Final = {
    "pause": 4,
    "pause_member": 3,
    "part": 5,
    "cut_one_way": 4,
    "isolate": 3,
    "slow_link": 3,
    "reset_connections": 4,
    "slow_disk": 2,
    "jump_clock": 2,
    "elect": 3,
    "flip_leaders": 3,
    "change_voters": 4,
    "change_feature": 2,
    "corrupt_reads": 2,
    "reassign": 3,
    "alter_config": 2,
    "topic_churn": 2,
}
# Only with one batch in flight per producer: a producer snapshot (Kafka's format) stores only the
# last batch, so a leader that starts from it rejects a resend of an earlier batch as out of order.
_RESTART_WEIGHTS: Final = {
    "kill": 6,
    "kill_within": 4,
    "stop": 3,
    "rolling_restart": 1,
    "kill_all": 1,
    "contest_election": 3,
    "leave_behind": 3,
    "change_nodes": 2,
    "rot": 2,
}
# Only if every in-sync replica syncs records before they are acknowledged.
_DURABLE_WEIGHTS: Final = {
    "lose_power": 6,
    "lose_power_within": 5,
    "lose_power_all": 2,
    "full_disk": 2,
    "failing_disk": 2,
}


# Only in secured clusters.
_SECURITY_WEIGHTS: Final = {
    "change_acls": 14,
    "change_credential": 4,
    "change_token": 2,
    "ask_deposed": 1,
}
_SECURED_PROBABILITY: Final = 0.25

_KIND_PROBABILITY: Final = 0.6
_KINDS_MIN: Final = 3
# With more producers per partition, each one writes less.
_WRITERS_AT_FULL_PACE: Final = 2
_PACE: Final = 1.5
# Slower with copiers, whose transactions need many requests.
_COPIED_PACE: Final = 3.0
_CALM_SECONDS: Final = (28, 55)


class PlannedFault(NamedTuple):
    """A fault by name (see faults.py), its time, its duration, and the seed of its random choices.

    `node_id` optionally fixes the node that it affects.
    """

    at: float
    name: str
    seconds: float
    number: int
    node_id: int | None = None

    def __str__(self) -> str:
        return f"{self.at:7.3f} {self.name} for {self.seconds:.3f} s, number {self.number}"


class Plan(NamedTuple):
    """All settings of a run that are decided before it starts."""

    seed: int
    seconds: float
    is_durable: bool
    partitions: int
    producers: int
    faults: tuple[PlannedFault, ...]
    nodes: int = 3
    # Initial voters of the metadata quorum.
    voters: int = 3
    # Maximum clock skew of a node.
    skew_ms_max: int = 0
    # Batches that a producer may have in flight per partition.
    under_way: int = 1
    # Members of a group with the consumer protocol and of a group with the classic protocol; each
    # group reads everything.
    members: int = 0
    classic_members: int = 0
    # Metadata bytes between two snapshots, after which the log below is deleted.
    snapshot_bytes: int = 20 << 20
    # Use short segments and frequent compaction for the internal topics.
    compacts: bool = False
    # replica.lag.time.max.ms: when a lagging follower is removed from the ISR.
    lag_ms_max: int = 30_000
    # Number of transactional ids that copy all records to another topic.
    copiers: int = 0
    # How long the run continues with little load after everything has recovered.
    calm_seconds: float = 0.0
    # Whether clients and nodes authenticate, and ACLs say what clients may do.
    is_secured: bool = False
    # Members of a share group that reads everything.
    share_members: int = 0
    # Whether two tenants use the cluster, with quotas.
    has_tenants: bool = False
    # Number of queries that write in two phases, as the Spark sink does.
    queries: int = 0
    # Whether topics are deleted, restored and purged.
    has_deletions: bool = False
    # Whether records are held until they are due.
    has_delays: bool = False
    # Number of producers that write to a topic which checks schemas.
    checked: int = 0
    # Factor by which producers pause longer.
    pace: float = 1.0


def _some_of(weights: dict[str, int], dice: SeededDice) -> dict[str, int]:
    """A random subset: with all kinds enabled, some would hide the effects of others."""
    kept = {name: weight for name, weight in weights.items() if dice.chance(_KIND_PROBABILITY)}
    return kept if len(kept) >= _KINDS_MIN else weights


def plan_of(seed: int) -> Plan:
    """The plan of a seed; always the same."""
    dice = SeededDice(f"plan {seed}")
    seconds = dice.between(low=15, high=45)
    is_durable = dice.chance(0.5)
    under_way = dice.choice((1, 1, 1, 5))
    weights = dict(_WEIGHTS)
    if under_way == 1:
        weights |= _RESTART_WEIGHTS | (_DURABLE_WEIGHTS if is_durable else {})
    names = [name for name, weight in _some_of(weights, dice).items() for _ in range(weight)]
    faults = []
    at = 2.0
    # Some runs have few faults, some have many.
    pause_ms_max = dice.choice((1_500, 4_000, 10_000))
    while (at := at + dice.between(low=50, high=pause_ms_max) / 1_000) < seconds:
        length_ms = dice.choice((300, 2_000, 8_000, 15_000))
        faults.append(
            PlannedFault(
                round(at, 3),
                dice.choice(names),
                dice.between(low=50, high=length_ms) / 1_000,
                dice.below(1 << 32),
            )
        )
    nodes = dice.choice((3, 3, 3, 4, 5))
    plan = Plan(
        seed,
        float(seconds),
        is_durable,
        partitions=dice.between(low=1, high=3),
        producers=dice.between(low=1, high=3),
        faults=tuple(faults),
        nodes=nodes,
        voters=dice.choice((3, nodes)),
        skew_ms_max=dice.choice((0, 2_000, 600_000)),
        under_way=under_way,
        members=dice.choice((0, 0, 1, 2, 3)),
        classic_members=dice.choice((0, 0, 0, 2, 3)),
        compacts=dice.chance(0.5),
        snapshot_bytes=dice.choice((1_000, 3_000, 20 << 20)),
        lag_ms_max=dice.choice((1_500, 1_500, 30_000)),
        copiers=dice.choice((0, 0, 0, 0, 1, 2)),
        calm_seconds=float(dice.between(low=_CALM_SECONDS[0], high=_CALM_SECONDS[1])),
    )
    writers = plan.producers * plan.partitions
    pace = _COPIED_PACE if plan.copiers else _PACE
    plan = plan._replace(pace=pace * max(writers / _WRITERS_AT_FULL_PACE, 1.0))
    dice = SeededDice(f"security {seed}")
    if dice.chance(_SECURED_PROBABILITY):
        return secured(plan, dice)
    # Their rights would be needed in a secured cluster.
    plan = plan._replace(
        share_members=SeededDice(f"shares {seed}").choice((0, 0, 1, 3)),
        has_tenants=SeededDice(f"tenants {seed}").choice((False, False, False, True)),
        checked=SeededDice(f"checked {seed}").choice((0, 0, 0, 0, 1, 2)),
        queries=0
        if plan.copiers
        else SeededDice(f"queries {seed}").choice((0, 0, 0, 0, 0, 0, 1, 2)),
        has_delays=SeededDice(f"delays {seed}").choice((False, False, False, True)),
    )
    if not plan.has_tenants and SeededDice(f"deletions {seed}").choice((False, False, True)):
        return with_deletions(plan)
    return plan


def with_deletions(plan: Plan) -> Plan:
    """The plan with topics that are deleted and restored. No disk runs full, for then they may be
    purged, and no user has a limit of topics, as with tenants."""
    faults = tuple(each for each in plan.faults if each.name != "full_disk")
    return plan._replace(has_deletions=True, has_tenants=False, is_secured=False, faults=faults)


def secured(plan: Plan, dice: SeededDice) -> Plan:
    """The plan for a secured cluster, with additional faults that change its security."""
    changes, at = list[PlannedFault](), 2.0
    names = [name for name, weight in _SECURITY_WEIGHTS.items() for _ in range(weight)]
    pause_ms_max = dice.choice((1_000, 3_000))
    while (at := at + dice.between(low=50, high=pause_ms_max) / 1_000) < plan.seconds:
        seconds = dice.between(low=50, high=dice.choice((300, 2_000, 5_000))) / 1_000
        number = dice.below(1 << 32)
        changes.append(PlannedFault(round(at, 3), dice.choice(names), seconds, number))
    return plan._replace(
        is_secured=True, faults=tuple(sorted([*plan.faults, *changes], key=lambda each: each.at))
    )
