"""A cluster is upgraded from the last landed version to the present one and back, node by node and
under load. Nothing is lost or doubled, and each mixture of both serves."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.integration.cluster.agreement import assert_everything_is_there
from tests.integration.cluster.cluster_view import active_controller, create_topic, wait_in_sync
from tests.integration.switch.switched_load import SOURCE, TARGET, SwitchedLoad
from tests.integration.transactions.committed_reader import read_committed
from tests.integration.upgrade.feature_levels import (
    change_levels,
    finalized_levels,
    highest_levels,
)
from tests.integration.upgrade.previous_version import VersionedCluster, previous_sources
from tests.support.nodes.cluster_processes import NodeOfCluster

REPLICAS = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
PROPERTIES = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
}
# As if the cluster were older still: the present version raises it.
OLD_LEVELS = {"transaction.version": 1}
STEADY = 50
# An ordinary failover takes less than a second; this host may be busy.
GAP_SECONDS_MAX = 30.0


def in_order_of_upgrade(cluster: VersionedCluster) -> list[NodeOfCluster]:
    """The active controller last."""
    active = active_controller(cluster)
    return sorted(cluster.brokers, key=lambda node: node.id == active)


def roll(
    cluster: VersionedCluster,
    load: SwitchedLoad,
    install: Callable[[NodeOfCluster], None],
    name: str,
) -> None:
    """Restarts the nodes with another version. Each mixture can create topics."""
    for node in in_order_of_upgrade(cluster):
        node.stop()
        install(node)
        node.start()
        node.wait_ready()
        wait_in_sync(cluster, SOURCE)
        load.producer.wait_acknowledged(more=STEADY)
        create_topic(cluster, f"{name}-{node.id}", REPLICAS[:1])


def test_a_cluster_is_upgraded_and_downgraded_under_load(tmp_path: Path) -> None:
    cluster = VersionedCluster(tmp_path, previous_sources(tmp_path / "previous"), PROPERTIES)
    with cluster:
        change_levels(cluster, OLD_LEVELS)
        before = finalized_levels(cluster, cluster.brokers[0])
        for topic in (SOURCE, TARGET):
            create_topic(cluster, topic, REPLICAS)
        with SwitchedLoad(cluster.client, len(REPLICAS), tmp_path) as load:
            load.producer.wait_acknowledged(more=STEADY)
            roll(cluster, load, cluster.install_present, "upgraded")
            raised = change_levels(cluster, highest_levels(cluster, cluster.brokers[0]))
            assert raised.keys() >= OLD_LEVELS.keys()
            load.producer.wait_acknowledged(more=STEADY)
            change_levels(cluster, {name: before.get(name, 0) for name in raised})
            assert finalized_levels(cluster, cluster.brokers[0]) == before
            roll(cluster, load, cluster.install_previous, "downgraded")
            load.finish_writing()
            load.wait_copied()
        load.end_transactions()
        copies = read_committed(cluster.client, TARGET, len(REPLICAS))
        assert copies == [list(range(load.producer.written))] * len(REPLICAS)
        assert load.gap_seconds_max < GAP_SECONDS_MAX
        assert_everything_is_there(cluster, load.producer)
    print(
        f"\n{load.producer.acknowledged_count} records, longest gap {load.gap_seconds_max:.2f} s "
        f"(load {os.getloadavg()[0]:.1f})"
    )
