"""Transactions that no coordinator will ever end (KIP-664).

A leader knows of them, and consumers that read what is committed wait for them; but the coordinator
of their producer has no transaction with that partition, or there is no such producer any more.
"""

from __future__ import annotations

from ottla.cli.exit_codes import CommandError
from ottla.cli.transactions.admin import OpenTransaction, TransactionAdmin
from ottla.model import TopicPartition


async def hanging(
    transactions: TransactionAdmin, *, topic: str | None, before_ms: int
) -> list[OpenTransaction]:
    """Those without a record since then."""
    candidates = [
        each
        for each in await transactions.open_transactions(topic)
        if each.last_timestamp_ms < before_ms
    ]
    if not candidates:
        return []
    known = await _known(transactions, {each.producer_id for each in candidates})
    return [
        each
        for each in candidates
        if TopicPartition(each.topic, each.partition) not in known.get(each.producer_id, ())
    ]


async def _known(
    transactions: TransactionAdmin, producer_ids: set[int]
) -> dict[int, set[TopicPartition]]:
    """By producer, the partitions that its coordinator has in a transaction."""
    known: dict[int, set[TopicPartition]] = {}
    for listed in await transactions.list_transactions(producer_ids=producer_ids):
        try:
            found = await transactions.describe(listed.id)
        except CommandError:
            # It has expired meanwhile.
            continue
        known.setdefault(found.producer_id, set()).update(
            TopicPartition(each.topic, index) for each in found.topics for index in each.partitions
        )
    return known
