"""A disk that is full takes its own replicas out of use, and nobody waits for them."""

from __future__ import annotations

from pathlib import Path

from tests.integration.cluster.agreement import assert_everything_is_there, assert_read_back
from tests.integration.cluster.cluster_view import create_topic, wait_in_sync
from tests.integration.cluster.load import Reader, TimedProducer
from tests.integration.cluster.small_disk import SmallDisk
from tests.support.nodes.cluster_processes import ClusterProcesses, wait_until

TOPIC = "load"
# Node 3 has the small disk; it leads the first partition and follows the others.
REPLICAS = [(3, 1, 2), (1, 3, 2), (2, 1, 3)]
DISK_BYTES = 32 << 20
STEADY = 50


def test_writes_go_on_without_the_replicas_of_a_full_disk(tmp_path: Path) -> None:
    cluster = ClusterProcesses(tmp_path)
    node = cluster.nodes[3]
    with SmallDisk(tmp_path / "small", size_bytes=DISK_BYTES) as disk:
        node.command_prefix = disk.command_prefix
        node.configure({"log.dirs": str(disk.mount_point), "metadata.log.dir": str(node.data)})
        node.data = disk.seen_from_outside
        with cluster:
            create_topic(cluster, TOPIC, REPLICAS)
            with Reader(cluster.client, TOPIC, len(REPLICAS)) as reader:
                with TimedProducer(cluster.client, TOPIC, len(REPLICAS)) as producer:
                    producer.wait_acknowledged(more=STEADY)
                    disk.fill()
                    wait_until(lambda: node.exit_code is not None, "the node's end")
                    assert node.exit_code == 1
                    node.end_by_force()
                    wait_in_sync(cluster, TOPIC, isr=(1, 2))
                    producer.wait_acknowledged(more=STEADY)
                    disk.free()
                    cluster.start([node])
                    wait_in_sync(cluster, TOPIC)
                    producer.wait_acknowledged(more=STEADY)
                assert_read_back(producer, reader)
            assert_everything_is_there(cluster, producer)
            assert "Stopped: all log directories have failed" in node.stderr
            assert "No space left on device" in node.stderr
    print(f"\nfull disk: {producer.summary}")
