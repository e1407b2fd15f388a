"""The kinds of clusters that the same tests run on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.nodes.cluster_processes import ClusterProcesses
from tests.support.nodes.secured_listeners import SecuredListeners

PLAINTEXT: Final = "plaintext"
SECURED: Final = "secured"


@contextmanager
def running_cluster(
    kind: str, scratch: Path, properties: Mapping[str, str]
) -> Iterator[ClusterProcesses]:
    """Three nodes. Those of a secured cluster, and its clients, connect with TLS and SCRAM only,
    and an authorizer decides what each may do."""
    if kind == PLAINTEXT:
        with ClusterProcesses(scratch, properties) as cluster:
            yield cluster
        return
    listeners = SecuredListeners(scratch / "certificates")
    with ClusterProcesses(scratch, properties, listeners=listeners) as cluster:
        listeners.add_acls(cluster.bootstrap)
        yield cluster
