"""What requests about records, topics and metadata need."""

from __future__ import annotations

from typing import Final

from ottla.model import ErrorCode, Uuid
from ottla.security.acls.acl import AclOperation
from ottla.wire.apis import ApiKey
from ottla.wire.messages import (
    delete_records,
    describe_producers,
    describe_topic_partitions,
    fetch,
    list_offsets,
    metadata,
    offset_for_leader_epoch,
    produce,
)
from ottla.wire.schema import Message
from tests.support.authorization.authorized_api import (
    NEW_TOPIC,
    TOPIC,
    TRANSACTIONAL_ID,
    AuthorizedApi,
    Needed,
    cluster,
    on_topic,
    on_transactional_id,
)
from tests.support.nodes.one_node import OneNode
from tests.support.storage.batches import batch_of

READ, WRITE, DELETE = AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE
CREATE, DESCRIBE = AclOperation.CREATE, AclOperation.DESCRIBE

PRODUCED: Final = "responses.partition_responses.error_code"
FETCHED: Final = "responses.partitions.error_code"
PARTITIONS: Final = "topics.partitions.error_code"
TOPICS: Final = "topics.error_code"


def topic_id(node: OneNode) -> Uuid:
    return node.image.topics.by_name[TOPIC].id


def _produce(node: OneNode) -> Message:
    data = produce.PartitionProduceData(records=bytes(batch_of(b"value")))
    topic = produce.TopicProduceData(topic_id=topic_id(node), partition_data=[data])
    return produce.ProduceRequest(acks=-1, topic_data=[topic])


def _produce_in_transaction(_node: OneNode) -> Message:
    batch = batch_of(b"value", producer_id=0, sequence=0, is_transactional=True)
    data = produce.PartitionProduceData(records=bytes(batch))
    topic = produce.TopicProduceData(name=TOPIC, partition_data=[data])
    return produce.ProduceRequest(transactional_id=TRANSACTIONAL_ID, acks=-1, topic_data=[topic])


def _fetch(node: OneNode) -> fetch.FetchRequest:
    partition = fetch.FetchPartition(partition_max_bytes=1_000)
    topic = fetch.FetchTopic(topic_id=topic_id(node), partitions=[partition])
    return fetch.FetchRequest(topics=[topic])


def _fetch_as_replica(node: OneNode) -> Message:
    request = _fetch(node)
    request.replica_state = fetch.ReplicaState(replica_id=7)
    return request


def _list_offsets(_node: OneNode) -> Message:
    partition = list_offsets.ListOffsetsPartition(timestamp=-1)
    topic = list_offsets.ListOffsetsTopic(name=TOPIC, partitions=[partition])
    return list_offsets.ListOffsetsRequest(replica_id=-1, topics=[topic])


def _list_offsets_as_replica(node: OneNode) -> Message:
    request = _list_offsets(node)
    request.replica_id = 7  # type: ignore[attr-defined]
    return request


def _metadata(node: OneNode) -> Message:
    topic = metadata.MetadataRequestTopic(name=None, topic_id=topic_id(node))
    return metadata.MetadataRequest(topics=[topic])


def _metadata_of_new(_node: OneNode) -> Message:
    return metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name=NEW_TOPIC)])


def _delete_records(_node: OneNode) -> Message:
    partition = delete_records.DeleteRecordsPartition(offset=0)
    topic = delete_records.DeleteRecordsTopic(name=TOPIC, partitions=[partition])
    return delete_records.DeleteRecordsRequest(topics=[topic], timeout_ms=1_000)


def _leader_epoch(_node: OneNode) -> Message:
    topic = offset_for_leader_epoch.OffsetForLeaderTopic(
        topic=TOPIC, partitions=[offset_for_leader_epoch.OffsetForLeaderPartition()]
    )
    return offset_for_leader_epoch.OffsetForLeaderEpochRequest(topics=[topic])


def _describe_producers(_node: OneNode) -> Message:
    topic = describe_producers.TopicRequest(name=TOPIC, partition_indexes=[0])
    return describe_producers.DescribeProducersRequest(topics=[topic])


def _describe_topic_partitions(_node: OneNode) -> Message:
    topic = describe_topic_partitions.TopicRequest(name=TOPIC)
    return describe_topic_partitions.DescribeTopicPartitionsRequest(topics=[topic])


DATA_APIS: Final = (
    AuthorizedApi(ApiKey.PRODUCE, _produce, (on_topic(WRITE, PRODUCED),)),
    AuthorizedApi(
        ApiKey.PRODUCE,
        _produce_in_transaction,
        (on_transactional_id(WRITE, PRODUCED), on_topic(WRITE, PRODUCED)),
        name="in a transaction",
        version=12,
    ),
    AuthorizedApi(ApiKey.FETCH, _fetch, (on_topic(READ, FETCHED),)),
    AuthorizedApi(
        ApiKey.FETCH,
        _fetch_as_replica,
        (
            Needed(
                cluster(AclOperation.CLUSTER_ACTION),
                ErrorCode.TOPIC_AUTHORIZATION_FAILED,
                (FETCHED,),
            ),
        ),
        name="as a replica",
        served=None,
    ),
    AuthorizedApi(ApiKey.LIST_OFFSETS, _list_offsets, (on_topic(DESCRIBE, PARTITIONS),)),
    AuthorizedApi(
        ApiKey.LIST_OFFSETS,
        _list_offsets_as_replica,
        (on_topic(DESCRIBE, PARTITIONS),),
        name="as a replica",
    ),
    AuthorizedApi(ApiKey.METADATA, _metadata, (on_topic(DESCRIBE, TOPICS),)),
    AuthorizedApi(
        ApiKey.METADATA,
        _metadata_of_new,
        (
            on_topic(DESCRIBE, TOPICS, name=NEW_TOPIC),
            on_topic(CREATE, TOPICS, name=NEW_TOPIC, others=(cluster(CREATE),)),
        ),
        name="of a new topic",
    ),
    AuthorizedApi(ApiKey.DELETE_RECORDS, _delete_records, (on_topic(DELETE, PARTITIONS),)),
    AuthorizedApi(
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        _leader_epoch,
        (on_topic(DESCRIBE, PARTITIONS, others=(cluster(AclOperation.CLUSTER_ACTION),)),),
    ),
    AuthorizedApi(ApiKey.DESCRIBE_PRODUCERS, _describe_producers, (on_topic(READ, PARTITIONS),)),
    AuthorizedApi(
        ApiKey.DESCRIBE_TOPIC_PARTITIONS, _describe_topic_partitions, (on_topic(DESCRIBE, TOPICS),)
    ),
)
