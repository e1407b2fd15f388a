"""How a bug is planted in the production's code, and the worlds in which it is looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from ottla.coordinator.runtime.shard import Shard
from ottla.model import ErrorCode
from ottla.replication.partition import Partition
from ottla.replication.readable_partition import ReadablePartition
from ottla.simulation.claims.claims import Claim
from ottla.simulation.faults.fault_plan import (
    Plan,
    PlannedFault,
    plan_of,
    secured,
    with_deletions,
)
from ottla.simulation.seams.dice import SeededDice

_SEEKING_SECONDS = 30.0
FAULTS_OF_COORDINATORS = (
    "kill",
    "kill_within",
    "pause",
    "part",
    "isolate",
    "stop",
    "elect",
    "reset_connections",
)


@dataclass(frozen=True)
class Mutant:
    name: str
    plant: Callable[[], AbstractContextManager[Any]]
    first_seed: int
    # Others may notice as well; this claim is there for bugs of its kind.
    found_by: type[Claim]
    seeks: tuple[str, ...] = ()
    is_durable: bool = False
    # Of a fault; a broker without heartbeats for 9 s is fenced.
    seconds_min: float = 0.3
    seconds_max: float = 3
    # How many of those who do nothing in most plans.
    copiers: int = 0
    members: int = 0
    classic_members: int = 0
    share_members: int = 0
    has_tenants: bool = False
    queries: int = 0
    has_deletions: bool = False
    has_delays: bool = False
    checked: int = 0
    under_way: int = 1
    compacts: bool = False
    # How many times as long producers pause as they might.
    pace: float = 1.0
    # Whether clients authenticate, and ACLs change.
    is_secured: bool = False
    # Of the metadata between two snapshots.
    snapshot_bytes: int = 20 << 20

    def plan(self, seed: int) -> Plan:
        plan = self._plan(seed) if self.seeks else plan_of(seed)
        if self.is_secured and not plan.is_secured:
            plan = secured(plan, SeededDice(f"security {seed}"))
        if self.has_tenants:
            plan = plan._replace(has_tenants=True, is_secured=False)
        return with_deletions(plan) if self.has_deletions else plan

    def _plan(self, seed: int) -> Plan:
        dice, at, faults = SeededDice(f"seeking {seed}"), 2.0, []
        shortest_ms, longest_ms = int(1_000 * self.seconds_min), int(1_000 * self.seconds_max)
        while (at := at + dice.between(low=200, high=longest_ms) / 1_000) < _SEEKING_SECONDS:
            seconds = dice.between(low=shortest_ms, high=longest_ms) / 1_000
            name, number = dice.choice(self.seeks), dice.below(1 << 32)
            faults.append(PlannedFault(at, name, seconds, number))
        return Plan(
            seed,
            _SEEKING_SECONDS,
            self.is_durable,
            partitions=2,
            producers=3,
            faults=tuple(faults),
            lag_ms_max=1_500,
            copiers=self.copiers,
            members=self.members,
            classic_members=self.classic_members,
            share_members=self.share_members,
            has_tenants=self.has_tenants,
            queries=self.queries,
            has_delays=self.has_delays,
            checked=self.checked,
            under_way=self.under_way,
            compacts=self.compacts,
            pace=self.pace,
            snapshot_bytes=self.snapshot_bytes,
        )


def copying(
    name: str,
    plant: Callable[[], AbstractContextManager[Any]],
    first_seed: int,
    found_by: type[Claim],
    *,
    seeks: tuple[str, ...] = FAULTS_OF_COORDINATORS,
    **more: Any,
) -> Mutant:
    """For a world in which everything is copied in transactions."""
    return Mutant(name, plant, first_seed, found_by, seeks=seeks, copiers=2, pace=3.0, **more)


def replacing(owner: Any, name: str, new: Any) -> Callable[[], AbstractContextManager[Any]]:
    return lambda: patch.object(owner, name, new)


def around(owner: Any, name: str, make: Callable[[Any], Any]) -> Callable[[], Any]:
    """Replaces a function by one made of it."""
    return lambda: patch.object(owner, name, make(getattr(owner, name)))


@contextmanager
def skipping_truncation() -> Iterator[None]:
    """A follower whose log has gone another way appends to it nevertheless."""
    with patch.object(ReadablePartition, "divergence", lambda _self, _requested: None):
        yield


def become_leader(change: Callable[[Partition], None]) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def become_leader(self: Partition, *arguments: Any, **named: Any) -> bool:
            epoch = self.leader_epoch
            changed: bool = original(self, *arguments, **named)
            if changed and self.leader_epoch > epoch:
                change(self)
            return changed

        return become_leader

    return make


def answers_early(self: Shard[Any], settle: Callable[[ErrorCode], object]) -> None:
    """Responses are sent before any other replica has the records."""
    del self
    settle(ErrorCode.NONE)
