"""Whether everything acknowledged is there, once and in order, and on all replicas alike."""

from __future__ import annotations

from tests.cluster_processes import ClusterProcesses
from tests.integration.cluster.cluster_view import wait_in_sync
from tests.integration.cluster.load import Reader, TimedProducer

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


def assert_replicas_agree(cluster: ClusterProcesses, topic: str, partitions: int) -> None:
    """Stops the cluster, which nobody writes to any more, and compares the replicas byte by byte."""
    wait_in_sync(cluster, topic)
    cluster.stop()
    for index in range(partitions):
        first, *others = [log_bytes(cluster, node.id, f"{topic}-{index}") for node in cluster.brokers]
        assert first
        for node, other in zip(cluster.brokers[1:], others, strict=True):
            assert first == other, f"{topic}-{index} of node {node.id} is not that of the first"
    assert_metadata_agrees(cluster)


def assert_metadata_agrees(cluster: ClusterProcesses) -> None:
    """As far as each controller has got: who stops first misses what the others still write."""
    logs = [
        log_bytes(cluster, node.id, _METADATA)
        for node in cluster.nodes.values()
        if (node.data / _METADATA).exists()
    ]
    for one in logs:
        for other in logs:
            size = min(len(one), len(other))
            assert one[:size] == other[:size], "the metadata logs differ"


def log_bytes(cluster: ClusterProcesses, node_id: int, partition: str) -> bytes:
    """All segments in their order. Where one ends is each replica's own affair."""
    directory = cluster.nodes[node_id].data / partition
    return b"".join(each.read_bytes() for each in sorted(directory.glob("*.log")))
