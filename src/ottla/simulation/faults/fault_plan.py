"""What will go wrong and when, drawn from the seed before the world begins.

A plan is a list of values, so that a shorter one can be tried (shrinking.py) and a person can write
one by hand. What a fault's number means is its own business: each takes from it what it needs, so
that leaving out one fault does not change the others.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.simulation.seams.dice import SeededDice

# How often each kind comes, beside the others.
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
# Only where a producer has one batch under way: a producer's snapshot, Kafka's own, remembers no
# more than that, and a leader that starts from it takes what was sent before for out of order.
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
# Only where every acknowledged record was synced by every replica that counted.
_DURABLE_WEIGHTS: Final = {
    "lose_power": 6,
    "lose_power_within": 5,
    "lose_power_all": 2,
    "full_disk": 2,
    "failing_disk": 2,
}


_KIND_PROBABILITY: Final = 0.6
_KINDS_MIN: Final = 3
# The more write to a partition each, the less each of them writes.
_WRITERS_AT_FULL_PACE: Final = 2
_PACE: Final = 1.5
# What is written is copied in transactions, which are many requests each.
_COPIED_PACE: Final = 3.0
_CALM_SECONDS: Final = (28, 55)


class PlannedFault(NamedTuple):
    """A fault by its name (see faults.py), at a time, for so long, with throws of its own.

    What they leave open a person may say: which node is meant.
    """

    at: float
    name: str
    seconds: float
    number: int
    node_id: int | None = None

    def __str__(self) -> str:
        return f"{self.at:7.3f} {self.name} for {self.seconds:.3f} s, number {self.number}"


class Plan(NamedTuple):
    """Everything about a run that is not chance while it runs."""

    seed: int
    seconds: float
    is_durable: bool
    partitions: int
    producers: int
    faults: tuple[PlannedFault, ...]
    nodes: int = 3
    # Of the metadata quorum, to begin with.
    voters: int = 3
    # By how much the hosts' clocks differ at most.
    skew_ms_max: int = 0
    # Batches that a producer may have under way for a partition.
    under_way: int = 1
    # Of a group that reads everything by the new protocol, and of one by the classic.
    members: int = 0
    classic_members: int = 0
    # Of metadata, after which a snapshot of it is written and the log below is let go of.
    snapshot_bytes: int = 20 << 20
    # Whether segments are short, and the offsets that groups commit are compacted all the time.
    compacts: bool = False
    # After which a follower that is behind leaves the ISR.
    lag_ms_max: int = 30_000
    # Transactional ids under which everything is copied to another topic.
    copiers: int = 0
    # For which life goes on once everything is healed, without faults and with little to do.
    calm_seconds: float = 0.0
    # How many times as long producers pause as they might.
    pace: float = 1.0


def _some_of(weights: dict[str, int], dice: SeededDice) -> dict[str, int]:
    """Each world knows some kinds only: together, all of them would hide what a few can do."""
    kept = {name: weight for name, weight in weights.items() if dice.chance(_KIND_PROBABILITY)}
    return kept if len(kept) >= _KINDS_MIN else weights


def plan_of(seed: int) -> Plan:
    """The same for the same seed."""
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
    # Some worlds are calm and some are not.
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
    return plan._replace(pace=pace * max(writers / _WRITERS_AT_FULL_PACE, 1.0))
