"""Supervisors in simulated clusters: no pipeline runs twice, and none is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import pytest

from ottla.simulation import SimulatedCluster, World
from ottla.simulation.cluster.cluster import start_cluster
from ottla.web.supervisor.running import shard as shard_module
from ottla.web.supervisor.running.owned_pipeline import OwnedPipeline
from ottla.web.supervisor.running.shard import PipelineShard
from tests.support.soak import IS_SOAK
from tests.support.supervisor.simulated import (
    Evidence,
    SimulatedSupervisor,
    deployment,
    trouble,
)

SEEDS = range(200 if IS_SOAK else 2)
PIPELINES = 4
SUPERVISORS = 3
FAULTS = 5


def run(seed: int) -> list[str]:
    """The violations."""

    async def deploy(supervisors: Sequence[SimulatedSupervisor], world: World) -> None:
        """On whichever owns it, after a while."""
        for number in range(PIPELINES):
            for _ in range(60):
                given = deployment(number)
                if any([await world.run_on(each.host, each.deploy(given)) for each in supervisors]):
                    break
                await world.sleep(0.5)
            else:
                raise TimeoutError(f"pipeline {number} was not deployed")

    async def story(world: World) -> list[str]:
        cluster: SimulatedCluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        evidence = Evidence()
        supervisors = [
            SimulatedSupervisor(world.host(f"host-{number}"), cluster, evidence)
            for number in range(SUPERVISORS)
        ]
        for each in supervisors:
            each.host.run("supervisor", each.run())
        await deploy(supervisors, world)
        await trouble(world, cluster, supervisors, FAULTS)

        def all_run() -> bool:
            return all(
                len(evidence.alive(deployment(number).name)) == 1 for number in range(PIPELINES)
            )

        try:
            await world.wait_until(all_run, seconds=120, step=0.5)
        except TimeoutError:
            evidence.violations.append("a pipeline is forgotten")
        return evidence.violations

    return World(seed=seed).run(story)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_pipeline_runs_twice_and_none_is_forgotten(seed: int) -> None:
    assert run(seed) == []


def _starts_at_once(self: PipelineShard, given: Any, _fenced_at: float) -> OwnedPipeline:
    """The lease of an earlier owner is not waited for."""
    run = self._topic.table.runs.get(given.name)
    return OwnedPipeline(given, self, run=run, history=(), until=0.0)


MUTANTS: dict[str, tuple[Callable[[], AbstractContextManager[Any]], range, str]] = {
    "starts at once": (
        lambda: patch.object(PipelineShard, "_taken_over", _starts_at_once),
        range(10),
        "twice",
    ),
    "grants leases that outlast the takeover": (
        lambda: patch.object(shard_module, "LEASE_S", 60.0),
        range(2, 10),
        "twice",
    ),
    "takes nothing over": (
        lambda: patch.object(PipelineShard, "_deployments", lambda _self: []),
        range(10),
        "forgotten",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_bug_is_found(name: str) -> None:
    plant, seeds, violation = MUTANTS[name]
    with plant():
        assert any(violation in " ".join(run(seed)) for seed in seeds)
