"""What the nodes of a cluster say of it: who is there, who leads, who keeps up, who controls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.versus.wire_client import METADATA_VERSION, WireClient, WireError
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
    DescribeQuorumResponse,
)
from ottla.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
)

Condition = Callable[[MetadataResponsePartition], bool]
QUORUM_TOPIC = "__cluster_metadata"
_PAUSE_S = 0.005
_TIMEOUT_S = 120.0


def partitions_of(address: str, names: Sequence[str]) -> list[MetadataResponsePartition]:
    """The partitions of the topics, as this node knows them; of none that it does not know."""
    topics = [MetadataRequestTopic(name=name) for name in names]
    answer = _metadata(address, MetadataRequest(topics=topics, allow_auto_topic_creation=False))
    return [partition for topic in answer.topics for partition in topic.partitions]


def active_controller(address: str) -> int:
    partition = DescribeQuorumRequestPartitionData(partition_index=0)
    topic = DescribeQuorumRequestTopicData(topic_name=QUORUM_TOPIC, partitions=[partition])
    with WireClient(address) as client:
        answer = client.send_request(
            DescribeQuorumRequest(topics=[topic]), 0, DescribeQuorumResponse
        )
    if answer.error_code or answer.topics[0].partitions[0].error_code:
        raise WireError("the leader of the quorum is not known")
    return answer.topics[0].partitions[0].leader_id


def wait_brokers(
    addresses: Sequence[str], *, count: int, is_alive: Callable[[], bool], timeout_s: float
) -> None:
    """Returns as soon as each node's metadata has so many brokers."""

    def knows_all(address: str) -> bool:
        if not is_alive():
            raise WireError("the process of a node exited")
        return len(_metadata(address, MetadataRequest(topics=[])).brokers) == count

    for address in addresses:
        wait_until(
            partial(knows_all, address),
            what=f"{count} brokers at {address}",
            timeout_s=timeout_s,
        )


def wait_partitions(
    addresses: Sequence[str],
    names: Sequence[str],
    condition: Condition,
    *,
    count: int,
    what: str,
    timeout_s: float = _TIMEOUT_S,
) -> None:
    """Returns as soon as the condition holds for so many partitions in each node's metadata."""

    def holds(address: str) -> bool:
        partitions = partitions_of(address, names)
        return len(partitions) == count and all(map(condition, partitions))

    for address in addresses:
        wait_until(
            partial(holds, address),
            what=f"{what} at {address}",
            timeout_s=timeout_s,
        )


def wait_until(check: Callable[[], bool], *, what: str, timeout_s: float = _TIMEOUT_S) -> None:
    """Asks until it is so. A node that cannot be reached may be starting, and is asked again.

    It pauses for as long as an answer took, so that asking is never most of what a node does.
    """
    deadline_s = time.perf_counter() + timeout_s
    while (sent_s := time.perf_counter()) < deadline_s:
        try:
            if check():
                return
        except OSError:
            pass
        time.sleep(max(_PAUSE_S, time.perf_counter() - sent_s))
    raise WireError(f"timed out after {timeout_s:g} s waiting for {what}")


def _metadata(address: str, request: MetadataRequest) -> MetadataResponse:
    with WireClient(address) as client:
        return client.send_request(request, METADATA_VERSION, MetadataResponse)
