"""How a cluster is, as it is shown."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from ottla.cli.cluster.status import BrokerView, ClusterStatus, PartitionPlace
from ottla.cli.cluster.status_view import ProcessView, status_json, status_view
from ottla.client.administration.quorum import DescribedQuorum, QuorumReplica
from ottla.model import ZERO_UUID
from ottla.runtime.network import Address

NOW_MS = 100_000


def broker(node_id: int, **changes: Any) -> BrokerView:
    usual = BrokerView(
        node_id,
        Address("host", 9090 + node_id),
        None,
        is_fenced=False,
        leads=1,
        replicas=2,
        in_sync=2,
        lag=0,
    )
    return usual._replace(**changes)


def replica(node_id: int, caught_up_ms: int | None = NOW_MS, **changes: Any) -> QuorumReplica:
    usual = QuorumReplica(
        node_id,
        ZERO_UUID,
        is_leader=node_id == 1,
        is_voter=True,
        log_end_offset=10,
        lag=0,
        last_fetch_ms=caught_up_ms,
        last_caught_up_ms=caught_up_ms,
    )
    return usual._replace(**changes)


def quorum(*replicas: QuorumReplica) -> DescribedQuorum:
    return DescribedQuorum(1, 7, 10, replicas, {})


def shown(status: ClusterStatus, processes: dict[int, ProcessView] | None = None) -> str:
    console = Console(width=120, highlight=False)
    with console.capture() as capture:
        console.print(status_view(status, processes or {}, now_ms=NOW_MS))
    return capture.get()


WELL = ClusterStatus(
    "id",
    (broker(1), broker(2)),
    quorum(replica(1), replica(2)),
    (PartitionPlace("t", 0, 1, (1, 2), (1, 2)), PartitionPlace("t", 1, 2, (2, 1), (2, 1))),
)
ILL = ClusterStatus(
    "id",
    (broker(1), broker(2, is_fenced=True, leads=0, in_sync=0, lag=None)),
    quorum(replica(1), replica(2, NOW_MS - 9_000), replica(3, None, is_voter=False)),
    (PartitionPlace("t", 0, 1, (1, 2), (1,)), PartitionPlace("t", 1, -1, (2, 1), ())),
)


def test_a_cluster_that_is_well_says_so() -> None:
    assert WELL.is_well
    text = shown(WELL)
    assert "controller 1 is active (epoch 7)" in text
    assert "2 of 2 brokers serving, 2 partitions, all in sync" in text


def test_what_is_missing_is_named() -> None:
    assert not ILL.is_well
    text = shown(ILL)
    assert "1 of 2 brokers serving, 2 partitions, 1 without a leader, 2 under-replicated" in text
    assert "voter, behind by 9 s" in text
    assert "observer, has not caught up" in text
    assert "t-1" in text
    assert status_json(ILL, {})["without_leader"] == ["t-1"]


def test_a_cluster_without_a_controller_is_not_well() -> None:
    leaderless = ClusterStatus("id", WELL.brokers, None, WELL.partitions)
    assert not leaderless.is_well
    assert "no active controller" in shown(leaderless)


def test_a_process_that_is_gone_is_shown_where_it_would_be() -> None:
    processes = {
        1: ProcessView("4711", "host:9091", is_well=True),
        5: ProcessView("died", "host:9095", is_well=False),
    }
    text = shown(WELL, processes)
    assert "host:9095" in text
    assert "died" in text
    assert not status_json(WELL, processes)["is_well"]
    assert status_json(WELL, {})["is_well"]


def test_of_many_partitions_some_are_shown() -> None:
    many = tuple(PartitionPlace("t", number, 1, (1, 2), (1,)) for number in range(50))
    text = shown(ClusterStatus("id", WELL.brokers, WELL.quorum, many))
    assert "... and 30 more" in text
