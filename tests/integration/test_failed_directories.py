"""A node without its last log directory, or without the metadata's, ends and says why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from ottla.testing import Cluster
from tests.support.nodes.cluster_processes import wait_until
from tests.support.nodes.node_process import NodeProcess

CHECKPOINT = "recovery-point-offset-checkpoint"
SOON = {"log.flush.offset.checkpoint.interval.ms": "50"}


def break_directory(directory: Path) -> None:
    """Puts a directory where the next checkpoint is to be written. The node may just be writing
    one there."""
    path = directory / f"{CHECKPOINT}.tmp"

    def is_blocked() -> bool:
        with suppress(FileExistsError):
            path.mkdir()
        return path.is_dir()

    wait_until(is_blocked, "a directory in the place of the checkpoint")


@contextmanager
def new_topic(bootstrap: str, name: str) -> Iterator[None]:
    """With a partition in each directory, of which the next checkpoints tell. The node may end of
    that and not answer."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(name, num_partitions=2)])
    yield


def mend_directory(directory: Path) -> None:
    (directory / f"{CHECKPOINT}.tmp").rmdir()


def test_a_node_goes_on_until_its_last_log_directory_has_failed(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    settings = {"log.dirs": f"{first},{second}", "metadata.log.dir": str(tmp_path / "metadata")}
    with NodeProcess(tmp_path, {**SOON, **settings}) as node:
        break_directory(first)
        with new_topic(node.bootstrap, "one"):
            wait_until(lambda: f"the disk of {first} failed" in node.stderr, "the first failure")
        break_directory(second)
        with new_topic(node.bootstrap, "two"):
            assert node.wait_ended() == 1
        assert "Stopped: all log directories have failed (" in node.stderr
        assert f"{first}: [Errno 21]" in node.stderr
        assert "repair the disk, then start the node again" in node.stderr
        node.assert_no_traceback()
        mend_directory(first)
        mend_directory(second)
        node.start()


def test_a_node_ends_with_the_directory_of_its_metadata(tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    with NodeProcess(tmp_path, {**SOON, "log.dirs": f"{data},{other}"}) as node:
        break_directory(data)
        with new_topic(node.bootstrap, "one"):
            assert node.wait_ended() == 1
        assert "Stopped: the directory of the metadata log has failed (" in node.stderr
        node.assert_no_traceback()


def test_an_embedded_node_without_directories_is_closed_and_the_process_goes_on(
    tmp_path: Path,
) -> None:
    with Cluster(nodes=3, data_dir=tmp_path, properties=SOON) as cluster:
        break_directory(tmp_path / "node-2")
        with new_topic(cluster.bootstrap, "one"):
            wait_until(lambda: cluster.running == [1, 3], "the node's end")
        cluster.create_topic("orders", replication_factor=2)
        mend_directory(tmp_path / "node-2")
        cluster.restart(2)
        assert cluster.running == [1, 2, 3]
    with Cluster(data_dir=tmp_path / "single", properties=SOON) as cluster:
        break_directory(tmp_path / "single")
        with new_topic(cluster.bootstrap, "one"):
            wait_until(lambda: not cluster.running, "the node's end")
