"""A cluster of processes that is restored from a backup."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from ottla.controller.formatting import initial_voter
from ottla.controller.initial_controllers import format_initial_controllers
from ottla.raft.voters import VoterEndpoint, VoterSet
from ottla.runtime.dice import SystemDice
from tests.support.nodes.cluster_processes import ClusterProcesses
from tests.support.nodes.node_listeners import HOST


def restore(cluster: ClusterProcesses, backup: Path) -> None:
    """Instead of the formatting that the cluster begins with."""
    dice = SystemDice()
    voters = VoterSet.of(
        initial_voter(each.id, dice.uuid(), VoterEndpoint("CONTROLLER", HOST, each.controller_port))
        for each in cluster.brokers
    )
    refused = ottla(*_restore_command(backup, cluster.brokers[0].properties, voters), exit_code=1)
    assert "is not empty" in refused.stderr
    for node in cluster.brokers:
        shutil.rmtree(node.data)
        ottla(*_restore_command(backup, node.properties, voters))


def _restore_command(backup: Path, properties: Path, voters: VoterSet) -> list[str]:
    controllers = format_initial_controllers(voters)
    place = ["--from", str(backup), "--config", str(properties)]
    return ["restore", *place, "--initial-controllers", controllers]


def ottla(*arguments: str, exit_code: int = 0) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("ottla")
    done = subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == exit_code, done.stdout + done.stderr
    return done
