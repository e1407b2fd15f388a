"""Nodes that wait for their quorum say what they wait for, and stop when they are asked to."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, wait_until
from tests.support.nodes.node_listeners import HOST

# A node that is starting gives up within half a second; the rest is for a machine that is busy.
STOP_SECONDS_MAX = 2.0


def stop_waiting(node: NodeOfCluster, number: signal.Signals) -> None:
    started = time.perf_counter()
    assert node.end(number) == 0, node.stderr
    assert time.perf_counter() - started < STOP_SECONDS_MAX
    assert "Stopping ..." in node.stderr


def test_a_node_without_its_quorum_names_the_missing_controllers_and_ends_on_sigterm(
    tmp_path: Path,
) -> None:
    cluster = ClusterProcesses(tmp_path)
    node, *others = cluster.nodes.values()
    node.start()
    try:
        wait_until(lambda: "no controller leads the quorum" in node.stderr, "a report")
        line = next(each for each in node.stderr.splitlines() if "no controller leads" in each)
        assert "controller 1 is this node; " in line
        for other in others:
            assert f"controller {other.id} at {HOST}:{other.controller_port}: [Errno 111]" in line
        assert "(2 of 3 have to run)" in line
        stop_waiting(node, signal.SIGTERM)
    finally:
        node.end_by_force()
    with cluster:
        cluster.stop()
    cluster.assert_no_traceback()


def test_a_broker_without_controllers_names_them_and_ends_on_sigint(tmp_path: Path) -> None:
    cluster = ClusterProcesses(tmp_path, brokers=(2,), controllers=(1,))
    controller, broker = cluster.nodes.values()
    broker.start()
    try:
        wait_until(lambda: "no controller leads the quorum" in broker.stderr, "a report")
        where = f"{HOST}:{controller.controller_port}"
        assert f"controller 1 at {where}: [Errno 111]" in broker.stderr
        stop_waiting(broker, signal.SIGINT)
    finally:
        broker.end_by_force()
    assert "Traceback" not in broker.stderr


def test_a_signal_at_any_moment_of_a_start_ends_it_and_leaves_a_directory_that_starts(
    tmp_path: Path,
) -> None:
    cluster = ClusterProcesses(tmp_path, brokers=(1,), controllers=(1,))
    node = cluster.nodes[1]
    for delay_ms in range(0, 700, 100):
        node.start()
        try:
            time.sleep(delay_ms / 1_000)  # Any moment will do.
            started = time.perf_counter()
            # Python itself has not begun to listen to signals in the first moments.
            assert node.end(signal.SIGTERM) in (0, -signal.SIGTERM), node.stderr
            assert time.perf_counter() - started < STOP_SECONDS_MAX
        finally:
            node.end_by_force()
    with cluster:
        cluster.stop()
    cluster.assert_no_traceback()
