"""`cluster.json`: which processes make up a cluster of this host.

Whoever looks after the cluster (`ottla cluster up`) replaces the file as a whole whenever something
changes; everybody else only reads it.
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
# By a command: it stays down until a command starts it again.
STOPPED: Final = "stopped"
DIED: Final = "died"


@dataclass(slots=True)
class NodeState:
    id: int
    address: str
    controller_address: str
    # None while there is no process.
    pid: int | None = None
    state: str = STOPPED


@dataclass(slots=True)
class ClusterState:
    cluster_id: str
    bootstrap: str
    # Of the process that looks after the nodes; None if nobody does.
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
    """Of a cluster that nobody has started."""
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
    """Whether the process lives and is the one meant: ids are used again after a while."""
    return pid is not None and with_argument in _command_line(pid)


def is_paused(pid: int) -> bool:
    """Whether somebody stopped the process (SIGSTOP), where the system tells."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] == "T"


def _command_line(pid: int) -> str:
    """Empty if there is no such process, or nothing but its exit code is left of it."""
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
