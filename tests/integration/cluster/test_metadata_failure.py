"""A node that cannot write its part of the metadata has no part in the cluster, and ends."""

from __future__ import annotations

from pathlib import Path

from tests.integration.cluster.cluster_view import active_controller
from tests.support.nodes.cluster_processes import ClusterProcesses, wait_until


def test_a_node_whose_metadata_fails_ends_with_a_message(tmp_path: Path) -> None:
    with ClusterProcesses(tmp_path) as cluster:
        leader = active_controller(cluster)
        failing = next(node for node in cluster.brokers if node.id != leader)
        # Where the next state of the quorum is to be written, nothing can be.
        (failing.data / "__cluster_metadata-0" / "quorum-state.tmp").mkdir()

        cluster.nodes[leader].kill()

        wait_until(lambda: failing.exit_code is not None, "the node's end")
        assert failing.exit_code == 1
        assert "its metadata log has failed" in failing.stderr
