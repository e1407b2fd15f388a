"""Three supervisors and a node, killed in turn for ten minutes."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter, sleep

import pytest

from ottla.simulation.seams.dice import SeededDice
from ottla.testing import Cluster
from tests.support.soak import IS_SOAK
from tests.support.supervisor.place import Place

pytestmark = pytest.mark.skipif(not IS_SOAK, reason="takes ten minutes: make soak")

SECONDS = 600.0
NAMES = [f"pipeline-{number}" for number in range(6)]


def test_no_pipeline_runs_twice_and_none_is_forgotten(tmp_path: Path) -> None:
    dice = SeededDice(7)
    with Cluster(nodes=3) as cluster:
        place = Place(cluster.bootstrap, tmp_path)
        place.define("a.py")
        alive = [place.supervisor() for _ in range(3)]
        for name in NAMES:
            answer = alive[0].ask("PUT", f"/connectors/{name}/config", {"file": "a.py"})
            assert answer.status == 201
        end, kills = perf_counter() + SECONDS, 0
        while perf_counter() < end:
            sleep(dice.between(low=1, high=25))
            if dice.chance(0.2):
                node = dice.choice(cluster.running)
                cluster.kill(node)
                sleep(3)
                cluster.restart(node)
                continue
            victim = alive.pop(dice.below(3))
            if dice.chance(0.7):
                victim.kill()
            else:
                assert victim.stop() == 0
            alive.append(place.supervisor())
            kills += 1
        workers = {each.worker for each in alive}
        for name in NAMES:
            alive[0].wait_status(
                name,
                lambda each: each["queries"] and each["connector"]["worker_id"] in workers,
            )
            assert place.events(name)["overlap"] == 0
        print(f"{kills} supervisors ended")
        place.close()
