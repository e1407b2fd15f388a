"""What requests of producers and about transactions need."""

from __future__ import annotations

from typing import Final

from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.wire.apis import ApiKey
from ottla.wire.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    describe_transactions,
    end_txn,
    init_producer_id,
    txn_offset_commit,
    write_txn_markers,
)
from ottla.wire.schema import Message
from tests.support.authorization.authorized_api import (
    GROUP,
    TOPIC,
    TRANSACTIONAL_ID,
    AuthorizedApi,
    cluster,
    on_cluster,
    on_group,
    on_topic,
    on_transactional_id,
)
from tests.support.authorization.group_apis import COORDINATORS, PARTITIONS, find
from tests.support.nodes.one_node import OneNode

READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
ADDED: Final = "results_by_topic_v3_and_below.results_by_partition.partition_error_code"


def init_producer(_node: OneNode) -> Message:
    return init_producer_id.InitProducerIdRequest(
        transactional_id=TRANSACTIONAL_ID, transaction_timeout_ms=60_000
    )


def _init_idempotent_producer(_node: OneNode) -> Message:
    return init_producer_id.InitProducerIdRequest(transactional_id=None)


def add_partition(_node: OneNode) -> Message:
    topic = add_partitions_to_txn.AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])
    return add_partitions_to_txn.AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=TRANSACTIONAL_ID, v3_and_below_topics=[topic]
    )


def _add_partition_as_broker(_node: OneNode) -> Message:
    topic = add_partitions_to_txn.AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])
    transaction = add_partitions_to_txn.AddPartitionsToTxnTransaction(
        transactional_id=TRANSACTIONAL_ID, topics=[topic]
    )
    return add_partitions_to_txn.AddPartitionsToTxnRequest(transactions=[transaction])


def _add_offsets(_node: OneNode) -> Message:
    return add_offsets_to_txn.AddOffsetsToTxnRequest(
        transactional_id=TRANSACTIONAL_ID, group_id=GROUP
    )


def _commit_offset(_node: OneNode) -> Message:
    partition = txn_offset_commit.TxnOffsetCommitRequestPartition(committed_offset=1)
    topic = txn_offset_commit.TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[partition])
    return txn_offset_commit.TxnOffsetCommitRequest(
        transactional_id=TRANSACTIONAL_ID, group_id=GROUP, topics=[topic]
    )


def _end(_node: OneNode) -> Message:
    return end_txn.EndTxnRequest(transactional_id=TRANSACTIONAL_ID, committed=True)


def _write_markers(_node: OneNode) -> Message:
    topic = write_txn_markers.WritableTxnMarkerTopic(name=TOPIC, partition_indexes=[0])
    marker = write_txn_markers.WritableTxnMarker(producer_id=7, topics=[topic])
    return write_txn_markers.WriteTxnMarkersRequest(markers=[marker])


def _describe(_node: OneNode) -> Message:
    return describe_transactions.DescribeTransactionsRequest(transactional_ids=[TRANSACTIONAL_ID])


def begin_transaction(node: OneNode) -> None:
    response = node.send_request(add_partition(node), 3)
    assert response.results_by_topic_v3_and_below[0].results_by_partition[0] is not None


TRANSACTION_APIS: Final = (
    AuthorizedApi(ApiKey.INIT_PRODUCER_ID, init_producer, (on_transactional_id(WRITE),)),
    AuthorizedApi(
        ApiKey.INIT_PRODUCER_ID,
        _init_idempotent_producer,
        (on_cluster(AclOperation.IDEMPOTENT_WRITE, others=((WRITE, ResourceType.TOPIC, "any"),)),),
        name="without a transactional id",
    ),
    AuthorizedApi(
        ApiKey.FIND_COORDINATOR,
        lambda _node: find(1, TRANSACTIONAL_ID),
        (on_transactional_id(DESCRIBE, COORDINATORS),),
        name="of a transactional id",
    ),
    AuthorizedApi(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        add_partition,
        (on_transactional_id(WRITE, ADDED), on_topic(WRITE, ADDED)),
        version=3,
    ),
    AuthorizedApi(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        _add_partition_as_broker,
        (on_cluster(AclOperation.CLUSTER_ACTION),),
        name="as a broker",
    ),
    AuthorizedApi(
        ApiKey.ADD_OFFSETS_TO_TXN, _add_offsets, (on_transactional_id(WRITE), on_group(READ))
    ),
    AuthorizedApi(
        ApiKey.TXN_OFFSET_COMMIT,
        _commit_offset,
        (
            on_transactional_id(WRITE, PARTITIONS),
            on_group(READ, PARTITIONS),
            on_topic(READ, PARTITIONS),
        ),
    ),
    AuthorizedApi(
        ApiKey.END_TXN,
        _end,
        (on_transactional_id(WRITE),),
        version=4,
        prepare=begin_transaction,
    ),
    AuthorizedApi(
        ApiKey.WRITE_TXN_MARKERS,
        _write_markers,
        (
            on_cluster(
                AclOperation.ALTER,
                "markers.topics.partitions.error_code",
                others=(cluster(AclOperation.CLUSTER_ACTION),),
            ),
        ),
        served=None,
    ),
    AuthorizedApi(
        ApiKey.DESCRIBE_TRANSACTIONS,
        _describe,
        (on_transactional_id(DESCRIBE, "transaction_states.error_code"),),
    ),
)
