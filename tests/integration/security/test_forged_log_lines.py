"""Names that clients choose cannot add lines to the log of a real node."""

from __future__ import annotations

from pathlib import Path

from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from tests.support.nodes.cluster_processes import wait_until
from tests.support.nodes.node_process import NodeProcess
from tests.support.nodes.wire_connection import WireConnection, framed

FORGED = "2027-01-01 12:00:00,000 INFO    the client at 10.0.0.1 is User:admin"
GROUP = f"group\n{FORGED}\r\x1b[2J"


def test_names_of_groups_and_members_stay_in_their_lines(tmp_path: Path) -> None:
    join = JoinGroupRequest(
        group_id=GROUP,
        session_timeout_ms=6_000,
        rebalance_timeout_ms=6_000,
        protocol_type=f"consumer\n{FORGED}",
        protocols=[JoinGroupRequestProtocol(name=f"range\n{FORGED}", metadata=b"")],
    )
    enter, leave = (
        ConsumerGroupHeartbeatRequest(
            group_id=f"modern {GROUP}",
            member_id=f"member\n{FORGED}",
            member_epoch=epoch,
            rebalance_timeout_ms=6_000,
            subscribed_topic_names=["orders"],
            topic_partitions=[],
        )
        for epoch in (0, -1)
    )
    with NodeProcess(tmp_path) as node, WireConnection(node.address) as client:
        find = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
        wait_until(
            lambda: not client.send_request(find, 4).coordinators[0].error_code, "a coordinator"
        )
        wait_until(lambda: not client.send_request(enter, 1).error_code, "the member's entry")
        assert client.send_request(leave, 1).error_code == 0
        client.send(framed(join, 3))
        wait_until(lambda: node.stderr.count(FORGED) >= 2, "lines about both groups")
        for line in node.stderr.splitlines():
            assert line.isprintable()
            assert not line.startswith(FORGED)
