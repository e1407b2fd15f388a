"""Topics that are deleted, restored and purged while the processes of nodes are killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from confluent_kafka import Producer

from ottla.client.administration.deleted_topics import DeletedTopicDescription
from ottla.client.errors import UnknownTopicOrPartitionError
from ottla.client.sync import Admin
from ottla.storage.files.file_names import DirectoryState, PartitionDirectoryName
from tests.integration.cluster.agreement import assert_everything_is_there, assert_read_back
from tests.integration.cluster.cluster_view import active_controller, create_topic, wait_in_sync
from tests.integration.cluster.load import Reader, TimedProducer
from tests.integration.cluster.small_disk import SmallDisk
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, wait_until

TOPIC = "load"
REPLICAS = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
STEADY = 50
# A producer that is still open would create the topic again.
PROPERTIES = {"auto.create.topics.enable": "false"}
DISK_BYTES = 48 << 20
LARGE_VALUE_BYTES, LARGE_VALUES = 100_000, 100


@contextmanager
def administrator(cluster: ClusterProcesses) -> Iterator[Admin]:
    bootstrap = ",".join(f"127.0.0.1:{node.port}" for node in cluster.running_brokers)
    with Admin({"bootstrap.servers": bootstrap}) as admin:
        yield admin


def delete(cluster: ClusterProcesses, topic: str = TOPIC) -> None:
    """A client repeats a request whose response is lost: then the topic is unknown."""
    with administrator(cluster) as admin, suppress(UnknownTopicOrPartitionError):
        admin.delete_topic(topic)


def deleted(cluster: ClusterProcesses) -> list[DeletedTopicDescription]:
    with administrator(cluster) as admin:
        return list(admin.list_deleted_topics())


def undelete(cluster: ClusterProcesses) -> None:
    (topic,) = deleted(cluster)
    with administrator(cluster) as admin:
        admin.undelete_topic(topic)


def fill(cluster: ClusterProcesses, topic: str) -> None:
    """Writes ten megabytes."""
    producer = Producer({**cluster.client, "linger.ms": 0})
    for _ in range(LARGE_VALUES):
        producer.produce(topic, bytes(LARGE_VALUE_BYTES), partition=0)
    assert producer.flush(60) == 0


def directories(node: NodeOfCluster, state: DirectoryState, topic: str = TOPIC) -> int:
    """How many of a topic's partitions a node has in a state."""
    names = [each.name for each in node.data.iterdir() if each.name.startswith(f"{topic}-")]
    return sum(PartitionDirectoryName.parse(name).state is state for name in names)


def wait_set_aside(cluster: ClusterProcesses) -> None:
    wait_until(
        lambda: all(
            directories(node, DirectoryState.DELETE) == len(REPLICAS)
            for node in cluster.running_brokers
        ),
        "all replicas are set aside",
    )


def test_a_topic_comes_back_whole_whatever_is_killed_meanwhile(tmp_path: Path) -> None:
    with ClusterProcesses(tmp_path, PROPERTIES) as cluster:
        create_topic(cluster, TOPIC, REPLICAS)
        with TimedProducer(cluster.client, TOPIC, len(REPLICAS)) as producer:
            producer.wait_acknowledged(more=STEADY)
        written = producer

        # Killed after the deletion, back before the restoring.
        delete(cluster)
        wait_set_aside(cluster)
        node = cluster.nodes[active_controller(cluster)]
        node.kill()
        cluster.start([node])
        assert directories(node, DirectoryState.DELETE) == len(REPLICAS)
        undelete(cluster)
        wait_in_sync(cluster, TOPIC)

        # Away during the deletion and the restoring.
        cluster.nodes[2].kill()
        delete(cluster)
        undelete(cluster)
        cluster.start([cluster.nodes[2]])
        wait_in_sync(cluster, TOPIC)

        # Away during the deletion; another one during the restoring; then all of them.
        cluster.nodes[3].kill()
        delete(cluster)
        cluster.start([cluster.nodes[3]])
        wait_set_aside(cluster)
        cluster.nodes[1].kill()
        undelete(cluster)
        for each in cluster.running_brokers:
            each.kill()
        cluster.start(cluster.nodes.values())
        wait_in_sync(cluster, TOPIC)

        with Reader(cluster.client, TOPIC, len(REPLICAS)) as reader:
            assert_read_back(written, reader)
        assert not deleted(cluster)
        assert_everything_is_there(cluster, written)


def test_a_purged_topic_is_gone_also_where_the_node_was_killed(tmp_path: Path) -> None:
    with ClusterProcesses(tmp_path, PROPERTIES) as cluster:
        create_topic(cluster, TOPIC, REPLICAS)
        with TimedProducer(cluster.client, TOPIC, len(REPLICAS)) as producer:
            producer.wait_acknowledged(more=STEADY)
        delete(cluster)
        wait_set_aside(cluster)
        cluster.nodes[2].kill()
        with administrator(cluster) as admin:
            admin.purge_deleted_topics(admin.list_deleted_topics())
        cluster.start([cluster.nodes[2]])

        def is_gone() -> bool:
            return not any(
                directories(node, state) for node in cluster.brokers for state in DirectoryState
            )

        wait_until(is_gone, "the directories are removed everywhere")
        assert not deleted(cluster)
        cluster.assert_no_traceback()


def test_deleted_topics_go_first_when_a_disk_runs_full(tmp_path: Path) -> None:
    cluster = ClusterProcesses(tmp_path, PROPERTIES)
    node = cluster.nodes[3]
    with SmallDisk(tmp_path / "small", size_bytes=DISK_BYTES) as disk:
        node.command_prefix = disk.command_prefix
        node.configure({"log.dirs": str(disk.mount_point), "metadata.log.dir": str(node.data)})
        node.data = disk.seen_from_outside
        with cluster:
            for topic in ("first", "second"):
                create_topic(cluster, topic, [(1, 2, 3)], {"segment.bytes": "1048576"})
                fill(cluster, topic)
                delete(cluster, topic)
            create_topic(cluster, TOPIC, REPLICAS, {"segment.bytes": "1048576"})
            with Reader(cluster.client, TOPIC, len(REPLICAS)) as reader:
                with TimedProducer(cluster.client, TOPIC, len(REPLICAS)) as producer:
                    producer.wait_acknowledged(more=STEADY)
                    assert [topic.name for topic in deleted(cluster)] == ["first", "second"]
                    disk.fill()
                    wait_until(
                        lambda: "first" not in {topic.name for topic in deleted(cluster)},
                        "the topic that was deleted first is purged",
                    )
                    producer.wait_acknowledged(more=STEADY)
                assert_read_back(producer, reader)
            wait_in_sync(cluster, TOPIC)
            assert node.exit_code is None, node.stderr
            assert "purged deleted topic first" in node.stderr
            assert not any(
                directories(each, DirectoryState.DELETE, "first") for each in cluster.brokers
            )
            assert_everything_is_there(cluster, producer)
