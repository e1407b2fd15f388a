"""Transactions that this node coordinates, and leads the partitions of as well.

Their batches need not wait for anybody: most of most producers' on a single node, and a share of
them in a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from ottla.broker.network.handling import RequestContext
from ottla.broker.producing.produced_partition import produced_partition
from ottla.broker.transactions.transaction_verification import (
    NOTHING_TO_VERIFY,
    Supported,
    TransactionalProducer,
    Verified,
    supported_by_produce,
)
from ottla.broker.transactions.transactional_produce import VerifiedProduce, claims_transaction
from ottla.coordinator.transactions.states import TransactionState
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.replication.partition import Partition
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.produce import ProduceRequest
from ottla.wire.records.header import BatchHeader, read_header

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_ONGOING = TransactionState.ONGOING
_ADDING = Supported.ADDING
_NO_ERRORS: Final[Mapping[TopicPartition, ErrorCode]] = {}


def is_known(
    broker: Broker, producer: TransactionalProducer, partitions: Iterable[TopicPartition]
) -> bool:
    """Whether the partitions are in the transaction, and nothing has to be waited for."""
    transactional_id, producer_id, producer_epoch = producer
    assert transactional_id is not None
    shard = broker.coordinators.transactions.shard_of(transactional_id)
    if shard is None or not shard.is_settled:
        return False
    transaction = shard.machine.transactions.get(transactional_id)
    return (
        transaction is not None
        and transaction.state is _ONGOING
        and transaction.producer_id == producer_id
        and transaction.producer_epoch == producer_epoch
        and transaction.partitions.issuperset(partitions)
    )


def verified_at_once(
    broker: Broker, context: RequestContext, request: ProduceRequest
) -> VerifiedProduce | None:
    """For a request of one batch. None if it may have to wait, for an answer or for its turn, or if
    there is anything to be said about it."""
    topics = request.topic_data
    if len(topics) != 1 or len(topics[0].partition_data) != 1 or not request.transactional_id:
        return None
    (data,) = topics[0].partition_data
    if data.records is None or not claims_transaction(data.records):
        return None
    version = context.api_version
    try:
        header = read_header(data.records)
        partition = produced_partition(broker.partitions, version, topics[0], data.index)
        return _verified(
            broker, partition, request.transactional_id, header, supported_by_produce(version)
        )
    except (KafkaError, ProtocolError):
        return None


def _verified(
    broker: Broker,
    partition: Partition,
    transactional_id: str,
    header: BatchHeader,
    supported: Supported,
) -> VerifiedProduce | None:
    producer_id, producer_epoch = header.producer_id, header.producer_epoch
    log = partition.log
    if not partition.is_leader or log is None or broker.transactional_produces.is_busy(producer_id):
        return None
    producers = log.producers.state
    if not producers.requires_verification:
        return None
    if producers.has_ongoing_transaction(producer_id=producer_id, producer_epoch=producer_epoch):
        return VerifiedProduce(NOTHING_TO_VERIFY, supported)
    producer = TransactionalProducer(transactional_id, producer_id, producer_epoch)
    if not is_known(broker, producer, (partition.name,)):
        return None
    verification = producers.start_verification(
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        sequence=header.base_sequence,
        supports_epoch_bump=supported is _ADDING,
        now_ms=broker.clock.now_ms(),
    )
    assert verification is not None
    return VerifiedProduce(Verified(_NO_ERRORS, {partition.name: verification}), supported)
