"""Whether a node is alive, and whether it is ready for requests; if not, why.

| page | 200: | 503: |
|---|---|---|
| `/healthz` | the event loop runs | the metadata log or all log directories have failed |
| `/readyz` | the node serves requests | it starts, recovers, stops, or has lost the cluster |

A node that is not healthy has to be restarted. One that is not ready needs time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ottla.broker.broker import Broker
from ottla.broker.control.node_progress import NodeProgress, NodeStage
from ottla.broker.node import Node
from ottla.raft.states import Follower
from ottla.runtime.clock import Clock

# A follower is always some records behind while metadata is written.
_METADATA_LAG_MAX: Final = 1_000


def failures(node: Node) -> list[str]:
    """Why the node cannot go on; empty if it can."""
    if node.failure is None:
        return []
    return [f"the node has failed: {node.failure or type(node.failure).__name__}"]


def obstacles(node: Node, clock: Clock) -> list[str]:
    """Why the node is not ready; empty if it is."""
    found = failures(node)
    if node.progress.state is not NodeStage.RUNNING:
        return [*found, _state_text(node.progress)]
    return [*found, *_lost_cluster(node, node.broker, clock)]


def _state_text(progress: NodeProgress) -> str:
    if progress.state is NodeStage.RECOVERING and progress.all_logs:
        return f"the node opens its logs: {progress.opened_logs} of {progress.all_logs}"
    return {
        NodeStage.STARTING: "the node is starting",
        NodeStage.REGISTERING: "the node waits to be registered by the active controller",
        NodeStage.RECOVERING: "the node opens its logs",
        NodeStage.UNFENCING: "the node waits for the active controller to unfence it",
        NodeStage.STOPPING: "the node is shutting down",
    }[progress.state]


def _lost_cluster(node: Node, broker: Broker, clock: Clock) -> Iterator[str]:
    quorum = broker.service.controller.quorum
    leader_id, epoch = quorum.leader_and_epoch
    if leader_id is None:
        yield f"no controller leads the metadata quorum (epoch {epoch})"
    state = quorum.raft.state
    if isinstance(state, Follower):
        lag = state.leader_high_watermark - broker.metadata.end_offset
        if lag > _METADATA_LAG_MAX:
            yield f"the node's metadata is {lag} records behind"
    if not node.config.is_broker:
        return
    registration = broker.cluster.image.brokers.get(node.config.node_id)
    if registration is None:
        yield "the node is not registered as a broker"
    elif registration.fenced:
        yield "the node is fenced: the active controller does not let it serve"
    silent_seconds = node.seconds_without_heartbeat(clock.monotonic())
    if silent_seconds > node.config.broker_session_timeout_ms / 1_000:
        yield f"the active controller has not answered a heartbeat for {silent_seconds:.0f} s"
