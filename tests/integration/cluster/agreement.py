"""Whether everything acknowledged is there, once and in order, and on all replicas alike."""

from __future__ import annotations

from pathlib import Path

from tests.integration.cluster.cluster_view import wait_in_sync
from tests.integration.cluster.load import Reader, TimedProducer
from tests.support.nodes.cluster_processes import ClusterProcesses, wait_until

_METADATA = "__cluster_metadata-0"


def assert_read_back(producer: TimedProducer, reader: Reader) -> None:
    reader.wait_read(producer.written)
    numbers = list(range(producer.written))
    for index, values in enumerate(reader.values):
        assert values == numbers, f"partition {index}: {_first_difference(values)}"
        for offset, number in producer.acknowledged[index].items():
            assert values[offset] == number, f"partition {index}, offset {offset}"


def _first_difference(values: list[int]) -> str:
    for offset, value in enumerate(values):
        if value != offset:
            return f"{values[max(offset - 3, 0) : offset + 4]} around offset {offset}"
    return f"{len(values)} records"


def assert_everything_is_there(cluster: ClusterProcesses, producer: TimedProducer) -> None:
    """Reads all of it once more, stops the cluster and compares the replicas byte by byte."""
    topic, partitions = producer.topic, producer.partitions
    with Reader(cluster.client, topic, partitions) as reader:
        assert_read_back(producer, reader)
    wait_in_sync(cluster, topic)
    # Not after the stop: what the last ones write nobody is left to commit.
    wait_until(lambda: _are_alike(cluster, _METADATA), "all metadata logs are the same")
    cluster.stop()
    for index in range(partitions):
        assert _are_alike(cluster, f"{topic}-{index}"), f"the replicas of {topic}-{index} differ"
    cluster.assert_no_traceback()


def _are_alike(cluster: ClusterProcesses, partition: str) -> bool:
    paths = [node.data / partition for node in cluster.nodes.values()]
    first, *others = [_log_bytes(path) for path in paths if path.exists()]
    return len(first) > 0 and all(first == other for other in others)


def _log_bytes(directory: Path) -> bytes:
    """All segments in their order. Where one ends is each replica's own affair."""
    return b"".join(each.read_bytes() for each in sorted(directory.glob("*.log")))
