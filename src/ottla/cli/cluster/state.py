"""`cluster.json`: the processes of a cluster on this host.

The supervisor (`ottla cluster up`) replaces the file atomically on every change; all others only
read it.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ottla.cli.cluster.layout import ClusterLayout
from ottla.cli.connection.bootstrap_addresses import address_text

STARTING: Final = "starting"
READY: Final = "ready"
# Stopped by a command: the node stays down until a command starts it.
STOPPED: Final = "stopped"
DIED: Final = "died"


@dataclass(slots=True)
class NodeState:
    id: int
    address: str
    controller_address: str
    # None if the node does not run.
    pid: int | None = None
    state: str = STOPPED


@dataclass(slots=True)
class ClusterState:
    cluster_id: str
    bootstrap: str
    # None if no supervisor runs.
    supervisor_pid: int | None = None
    nodes: list[NodeState] = field(default_factory=list)

    @property
    def is_ready(self) -> bool:
        return all(node.state == READY for node in self.nodes)

    def node(self, node_id: int) -> NodeState:
        return next(node for node in self.nodes if node.id == node_id)

    def write(self, file: Path) -> None:
        partial = file.with_suffix(".part")
        partial.write_text(json.dumps(asdict(self), indent=1) + "\n")
        partial.replace(file)


def initial_state(layout: ClusterLayout, cluster_id: str) -> ClusterState:
    """The state of a cluster that has not been started."""
    nodes = [
        NodeState(node.id, address_text(node.address), address_text(node.controller_address))
        for node in layout.nodes
    ]
    return ClusterState(cluster_id, layout.bootstrap, nodes=nodes)


def read_state(file: Path) -> ClusterState:
    fields: dict[str, Any] = json.loads(file.read_text())
    nodes = [NodeState(**node) for node in fields.pop("nodes")]
    return ClusterState(**fields, nodes=nodes)


def runs(pid: int | None, *, with_argument: str) -> bool:
    """Whether the process runs and has the argument: the system reuses process ids."""
    return pid is not None and with_argument in _command_line(pid)


def is_paused(pid: int) -> bool:
    """Whether the process is paused (SIGSTOP). Always false on systems without /proc."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] == "T"


def _command_line(pid: int) -> str:
    """The command line; empty if there is no such process, or only a zombie."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, UnicodeDecodeError):
            return ""
    listed = subprocess.run(  # noqa: S603 - the number is ours
        ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)],
        capture_output=True,
        check=False,
        text=True,
    )
    return listed.stdout
