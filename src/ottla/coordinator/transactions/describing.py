"""The responses of ListTransactions and DescribeTransactions (KIP-664)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import groupby

from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.wire.messages import describe_transactions, list_transactions


@dataclass(frozen=True, slots=True)
class TransactionFilter:
    """The filters of ListTransactions. No producer ids, or states of None, filter nothing. `states`
    contains only known states: if all requested states are unknown, it is empty and nothing
    matches."""

    states: Collection[TransactionState] | None
    producer_ids: Collection[int]
    # Matches transactions open for longer than this; negative filters nothing.
    duration_ms: int
    id_matches: Callable[[str], bool]

    def admits(self, transaction: Transaction, *, now_ms: int) -> bool:
        return (
            (self.states is None or transaction.state in self.states)
            and (not self.producer_ids or transaction.producer_id in self.producer_ids)
            and (self.duration_ms < 0 or now_ms - transaction.start_ms > self.duration_ms)
            and self.id_matches(transaction.transactional_id)
        )


def listed(transaction: Transaction) -> list_transactions.TransactionState:
    return list_transactions.TransactionState(
        transactional_id=transaction.transactional_id,
        producer_id=transaction.producer_id,
        transaction_state=transaction.state.title,
    )


def described(transaction: Transaction) -> describe_transactions.TransactionState:
    return describe_transactions.TransactionState(
        transactional_id=transaction.transactional_id,
        transaction_state=transaction.state.title,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.start_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        topics=[
            describe_transactions.TopicData(
                topic=topic, partitions=[each.partition for each in of_topic]
            )
            for topic, of_topic in groupby(sorted(transaction.partitions), lambda each: each.topic)
        ],
    )
