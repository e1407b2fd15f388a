from __future__ import annotations

import pytest

from ottla.broker.network.handling import RequestContext
from ottla.broker.network.pending import Pending
from ottla.model import ErrorCode
from ottla.replication.partition import Isolation
from ottla.wire.apis import ApiKey
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.support.coordinator.transaction_coordinator import ScriptedCoordinator
from tests.support.nodes.one_node import LISTENER, OneNode, StartNode
from tests.support.storage.batches import batch_of

PRODUCER = 7
GROUP = "group"
OFFSETS = "__consumer_offsets"
ONE_PARTITION = {"offsets.topic.num.partitions": "1"}


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    node = start_node(configs=ONE_PARTITION)
    node.create_topic("t", partitions=2)
    node.send_request(FindCoordinatorRequest(coordinator_keys=[GROUP]), 6)
    return node


@pytest.fixture
def coordinator(node: OneNode) -> ScriptedCoordinator:
    return ScriptedCoordinator(node)


def batch(*, epoch: int = 0, sequence: int = 0) -> bytearray:
    return batch_of(
        b"v",
        producer_id=PRODUCER,
        producer_epoch=epoch,
        sequence=sequence,
        is_transactional=True,
    )


def marker(
    *,
    commit: bool = True,
    epoch: int = 0,
    coordinator_epoch: int = 0,
    version: int = 0,
    topics: dict[str, list[int]] | None = None,
) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_id=PRODUCER,
        producer_epoch=epoch,
        transaction_result=commit,
        coordinator_epoch=coordinator_epoch,
        transaction_version=version,
        topics=[
            WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
            for name, indexes in (topics or {"t": [0]}).items()
        ],
    )


def write(node: OneNode, *markers: WritableTxnMarker) -> list[dict[tuple[str, int], ErrorCode]]:
    response = node.send_request(WriteTxnMarkersRequest(markers=list(markers)), 2)
    assert [each.producer_id for each in response.markers] == [PRODUCER] * len(markers)
    return [
        {
            (topic.name, partition.partition_index): ErrorCode(partition.error_code)
            for topic in found.topics
            for partition in topic.partitions
        }
        for found in response.markers
    ]


def end(node: OneNode, marker: WritableTxnMarker) -> ErrorCode:
    ((error,),) = (found.values() for found in write(node, marker))
    return error


def commit_offset(
    node: OneNode,
    offset: int = 5,
    *,
    version: int = 3,
    epoch: int = 0,
    generation: int = -1,
    member_id: str = "",
    index: int = 0,
    metadata: str = "",
    group_id: str = GROUP,
) -> ErrorCode:
    response = node.send_request(
        TxnOffsetCommitRequest(
            transactional_id="copier",
            group_id=group_id,
            producer_id=PRODUCER,
            producer_epoch=epoch,
            generation_id=generation,
            member_id=member_id,
            topics=[
                TxnOffsetCommitRequestTopic(
                    name="t",
                    partitions=[
                        TxnOffsetCommitRequestPartition(
                            partition_index=index,
                            committed_offset=offset,
                            committed_metadata=metadata,
                        )
                    ],
                )
            ],
        ),
        version,
    )
    return ErrorCode(response.topics[0].partitions[0].error_code)


def committed(node: OneNode, *, require_stable: bool = True) -> int | ErrorCode:
    response = node.send_request(
        OffsetFetchRequest(
            require_stable=require_stable,
            groups=[
                OffsetFetchRequestGroup(
                    group_id=GROUP,
                    topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[0])],
                )
            ],
        ),
        9,
    )
    (found,) = response.groups[0].topics[0].partitions
    return ErrorCode(found.error_code) if found.error_code else int(found.committed_offset)


# ---- partitions


def test_a_marker_ends_the_transaction_in_each_partition(node: OneNode) -> None:
    for index in range(2):
        node.append("t", batch(), index=index)

    (errors,) = write(node, marker(topics={"t": [0, 1, 2], "u": [0]}))

    assert errors == {
        ("t", 0): ErrorCode.NONE,
        ("t", 1): ErrorCode.NONE,
        ("t", 2): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("u", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert [node.log("t", index).last_stable_offset for index in range(2)] == [2, 2]


def test_a_fetch_response_lists_aborted_transactions_for_read_committed_consumers(
    node: OneNode,
) -> None:
    node.append("t", batch())

    assert end(node, marker(commit=False)) == ErrorCode.NONE

    read = node.broker.partitions.by_name("t", 0).read(
        0, bytes_max=1_000, isolation=Isolation.READ_COMMITTED, min_one_batch=True
    )
    assert read.aborted_transactions is not None
    assert [each.producer_id for each in read.aborted_transactions] == [PRODUCER]


def test_a_request_may_have_several_markers(node: OneNode) -> None:
    node.append("t", batch())

    found = write(node, marker(), marker(topics={"t": [1]}))
    assert [set(each.values()) for each in found] == [{ErrorCode.NONE}] * 2


def test_no_markers_are_no_work(node: OneNode) -> None:
    assert write(node) == []


def test_a_marker_of_an_older_producer_epoch_is_refused(node: OneNode) -> None:
    node.append("t", batch(epoch=3))

    assert end(node, marker(epoch=2)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_a_deposed_coordinator_is_refused(node: OneNode) -> None:
    assert end(node, marker(coordinator_epoch=5)) == ErrorCode.NONE
    assert end(node, marker(coordinator_epoch=4)) == ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_with_version_2_a_late_marker_does_not_end_the_next_transaction(node: OneNode) -> None:
    node.append("t", batch(epoch=0))
    assert end(node, marker(epoch=1, version=2)) == ErrorCode.NONE
    assert end(node, marker(epoch=1, version=2)) == ErrorCode.NONE
    node.append("t", batch(epoch=1))

    assert end(node, marker(epoch=1, version=2)) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert end(node, marker(epoch=1, version=1)) == ErrorCode.NONE


def test_a_marker_wakes_consumers_that_wait_for_the_whole_transaction(node: OneNode) -> None:
    large = batch_of(b"v" * 5_000, producer_id=PRODUCER, sequence=0, is_transactional=True)
    node.append("t", large)
    fetch = FetchRequest(
        max_wait_ms=10_000,
        min_bytes=4_000,
        max_bytes=1 << 20,
        isolation_level=1,
        topics=[
            FetchTopic(
                topic="t", partitions=[FetchPartition(partition=0, partition_max_bytes=1 << 20)]
            )
        ],
    )
    context = RequestContext(12, "test", "127.0.0.1", LISTENER)
    waiting = node.broker.apis[ApiKey.FETCH].handler(context, fetch)
    assert isinstance(waiting, Pending)
    assert waiting.answer is waiting

    end(node, marker())

    assert isinstance(waiting.response, FetchResponse)
    assert waiting.response.responses[0].partitions[0].records


# ---- offsets


def test_offsets_count_when_the_transaction_is_committed(
    node: OneNode, coordinator: ScriptedCoordinator
) -> None:
    assert commit_offset(node) == ErrorCode.NONE
    assert committed(node) == ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert committed(node, require_stable=False) == -1

    assert end(node, marker(topics={OFFSETS: [0]})) == ErrorCode.NONE
    assert committed(node) == 5
    (requested,) = coordinator.requested
    assert [(each.name, each.partitions) for each in requested.topics] == [(OFFSETS, [0])]


@pytest.mark.usefixtures("coordinator")
def test_and_never_were_if_it_is_aborted(node: OneNode) -> None:
    commit_offset(node)

    assert end(node, marker(topics={OFFSETS: [0]}, commit=False)) == ErrorCode.NONE
    assert committed(node) == -1


@pytest.mark.parametrize(("version", "verify_only"), [(3, True), (4, True), (5, False)])
def test_with_transaction_version_2_the_groups_partition_is_added(
    node: OneNode, coordinator: ScriptedCoordinator, version: int, verify_only: bool
) -> None:
    assert commit_offset(node, version=version) == ErrorCode.NONE
    assert coordinator.requested[0].verify_only is verify_only


@pytest.mark.parametrize(
    ("version", "said", "expected"),
    [
        (3, ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.INVALID_TXN_STATE),
        (4, ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.TRANSACTION_ABORTABLE),
        (3, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH),
        (1, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (2, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (5, ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.CONCURRENT_TRANSACTIONS),
        (5, ErrorCode.NETWORK_EXCEPTION, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_offsets_of_a_transaction_that_is_not_known_are_refused(
    node: OneNode,
    coordinator: ScriptedCoordinator,
    version: int,
    said: ErrorCode,
    expected: ErrorCode,
) -> None:
    coordinator.errors = [said]

    assert commit_offset(node, version=version) == expected
    assert committed(node) == -1


@pytest.mark.usefixtures("coordinator")
def test_a_zombie_is_fenced_by_its_producers_epoch(node: OneNode) -> None:
    commit_offset(node, epoch=3)
    end(node, marker(topics={OFFSETS: [0]}, epoch=3))

    assert commit_offset(node, epoch=2) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert end(node, marker(topics={OFFSETS: [0]}, epoch=2)) == ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.usefixtures("coordinator")
def test_what_makes_no_sense_is_refused(node: OneNode) -> None:
    assert commit_offset(node, index=9) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert commit_offset(node, group_id="") == ErrorCode.INVALID_GROUP_ID
    assert commit_offset(node, generation=3) == ErrorCode.ILLEGAL_GENERATION
    assert commit_offset(node, metadata="m" * 5_000) == ErrorCode.OFFSET_METADATA_TOO_LARGE


def test_without_the_offsets_topic_there_is_no_coordinator(start_node: StartNode) -> None:
    node = start_node()
    node.create_topic("t")

    assert commit_offset(node) == ErrorCode.NOT_COORDINATOR


@pytest.mark.usefixtures("coordinator")
def test_a_shard_that_is_gone_takes_no_markers(node: OneNode) -> None:
    commit_offset(node)
    node.broker.coordinators.groups.forget(node.broker.partitions.by_name(OFFSETS, 0))

    assert end(node, marker(topics={OFFSETS: [0]})) == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.usefixtures("coordinator")
def test_pending_offsets_are_found_again_by_the_next_leader(
    node: OneNode, start_node: StartNode
) -> None:
    commit_offset(node, 5)

    node = start_node(node.crash(), configs=ONE_PARTITION)
    assert committed(node) == ErrorCode.UNSTABLE_OFFSET_COMMIT
    end(node, marker(topics={OFFSETS: [0]}))

    node = start_node(node.crash(), configs=ONE_PARTITION)
    assert committed(node) == 5


def test_internal_topics_but_committed_offsets_take_no_markers(
    node: OneNode, coordinator: ScriptedCoordinator
) -> None:
    (codes,) = write(node, marker(topics={"__transaction_state": [0], OFFSETS: [0]}))

    assert codes == {
        ("__transaction_state", 0): ErrorCode.INVALID_TOPIC_EXCEPTION,
        (OFFSETS, 0): ErrorCode.NONE,
    }
    assert node.log("__transaction_state").log_end_offset == 0
