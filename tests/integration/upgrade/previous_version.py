"""The last version that was landed, from the history of the repository."""

from __future__ import annotations

import compileall
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest

from ottla.controller.formatting import new_cluster_id
from ottla.model import uuid_to_text
from ottla.runtime.dice import SystemDice
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster
from tests.support.nodes.node_listeners import HOST

# Its last commit. Whoever lands a version enters here the one before.
PREVIOUS: Final = "ce0d8ab6e0709012b31c6e6ae26ea91bfc7c9821"
_ROOT: Final = Path(__file__).resolve().parents[3]


def previous_sources(scratch: Path) -> Path:
    """The directory that holds the package of the previous version. Skips the test if this clone
    does not have its commit."""
    git = shutil.which("git")
    if git is None or not (_ROOT / ".git").exists():
        pytest.skip("the previous version is only in a clone of the repository, with git")
    archived = subprocess.run(
        [git, "-C", str(_ROOT), "archive", PREVIOUS, "src/ottla"], capture_output=True
    )
    if archived.returncode:
        pytest.skip(
            f"this clone does not have commit {PREVIOUS[:12]}, the previous version: "
            "git fetch --unshallow"
        )
    with tarfile.open(fileobj=BytesIO(archived.stdout)) as files:
        files.extractall(scratch, filter="data")
    sources = scratch / "src"
    # As an installation does.
    assert compileall.compile_dir(sources / "ottla", quiet=1)
    place = subprocess.run(
        [*_run_with(sources), sys.executable, "-c", "import ottla; print(ottla.__file__)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert place.stdout.startswith(str(sources)), place.stdout
    return sources


def _run_with(sources: Path) -> tuple[str, ...]:
    """Precedes a command that runs with this version instead of the installed one."""
    return ("env", f"PYTHONPATH={sources}")


class VersionedCluster(ClusterProcesses):
    """Formatted by the previous version. Each node starts with the version that it was given."""

    def __init__(
        self, scratch: Path, sources: Path, properties: Mapping[str, str] | None = None
    ) -> None:
        self._previous = _run_with(sources)
        super().__init__(scratch, properties)
        dice = SystemDice()
        cluster_id = new_cluster_id(dice)
        controllers = ",".join(
            f"{node.id}@{HOST}:{node.controller_port}:{uuid_to_text(dice.uuid())}"
            for node in self.brokers
        )
        for node in self.brokers:
            self.install_previous(node)
            identity = ("--cluster-id", cluster_id, "--initial-controllers", controllers)
            ottla = str(Path(sys.executable).with_name("ottla"))
            subprocess.run(
                [*self._previous, ottla, "format", "--config", str(node.properties), *identity],
                check=True,
                capture_output=True,
            )

    def install_previous(self, node: NodeOfCluster) -> None:
        """From its next start on."""
        node.command_prefix = self._previous

    def install_present(self, node: NodeOfCluster) -> None:
        node.command_prefix = ()

    def _format(self, *, has_static_voters: bool) -> None:
        """Is done by the previous version, once the nodes are configured."""
        assert not has_static_voters
        for node in self.nodes.values():
            node.data.mkdir(parents=True)
