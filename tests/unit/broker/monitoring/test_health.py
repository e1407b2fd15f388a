from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from ottla.broker.control.node_progress import NodeProgress, NodeStage
from ottla.broker.monitoring.health import failures, obstacles
from ottla.broker.node import Node
from ottla.simulation.seams.clock import SimulatedClock


def node_at(stage: NodeStage, failure: Exception | None = None) -> Node:
    progress = NodeProgress()
    progress.enter(stage)
    return cast(Node, SimpleNamespace(progress=progress, failure=failure))


@pytest.mark.parametrize(
    ("stage", "reason"),
    [
        (NodeStage.STARTING, "the node is starting"),
        (NodeStage.REGISTERING, "the node waits to be registered by the active controller"),
        (NodeStage.RECOVERING, "the node opens its logs"),
        (NodeStage.UNFENCING, "the node waits for the active controller to unfence it"),
        (NodeStage.STOPPING, "the node is shutting down"),
    ],
)
def test_a_node_that_does_not_run_is_healthy_and_not_ready(stage: NodeStage, reason: str) -> None:
    node = node_at(stage)
    assert failures(node) == []
    assert obstacles(node, SimulatedClock()) == [reason]


def test_recovery_says_how_far_it_is() -> None:
    node = node_at(NodeStage.RECOVERING)
    node.progress.log_opened(3, of=7)
    assert obstacles(node, SimulatedClock()) == ["the node opens its logs: 3 of 7"]


def test_a_failed_node_is_neither_healthy_nor_ready() -> None:
    node = node_at(NodeStage.STOPPING, OSError("the disk is gone"))
    assert failures(node) == ["the node has failed: the disk is gone"]
    assert obstacles(node, SimulatedClock())[0] == "the node has failed: the disk is gone"
