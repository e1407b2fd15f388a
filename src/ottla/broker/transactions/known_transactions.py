"""Looks up ongoing transactions whose coordinator is in this process, without a request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.transactions.verification_requests import TransactionalProducer
from ottla.coordinator.transactions.states import TransactionState
from ottla.model import TopicPartition

if TYPE_CHECKING:
    from ottla.coordinator.transactions.coordinator import TransactionCoordinator

_ONGOING = TransactionState.ONGOING


def is_known(
    transactions: CoordinatorShards[TransactionCoordinator],
    producer: TransactionalProducer,
    partitions: Iterable[TopicPartition],
) -> bool:
    """Whether the partitions are in the producer's ongoing transaction and its coordinator's state
    is fully committed."""
    transactional_id, producer_id, producer_epoch = producer
    assert transactional_id is not None
    shard = transactions.shard_of(transactional_id)
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
