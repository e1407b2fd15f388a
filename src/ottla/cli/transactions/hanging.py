"""Transactions that no coordinator will ever end (KIP-664).

A leader knows of them, and consumers that read what is committed wait for them; but the coordinator
of their producer has no transaction with that partition, or there is no such producer any more.
"""

from __future__ import annotations

from ottla.cli.connection.admin_connection import doing
from ottla.cli.transactions.admin import OpenTransaction, list_transactions, open_transactions
from ottla.client.administration.admin import Admin
from ottla.model import TopicPartition


async def hanging(admin: Admin, *, topic: str | None, before_ms: int) -> list[OpenTransaction]:
    """Those without a record since then."""
    candidates = [
        each for each in await open_transactions(admin, topic) if each.last_timestamp_ms < before_ms
    ]
    if not candidates:
        return []
    known = await _known(admin, {each.producer_id for each in candidates})
    return [
        each
        for each in candidates
        if TopicPartition(each.topic, each.partition) not in known.get(each.producer_id, ())
    ]


async def _known(admin: Admin, producer_ids: set[int]) -> dict[int, set[TopicPartition]]:
    """By producer, the partitions that its coordinator has in a transaction."""
    listed = await list_transactions(admin, producer_ids=producer_ids)
    with doing("describe transactions"):
        results = await admin.describe_transactions(each.id for each in listed)
    known: dict[int, set[TopicPartition]] = {}
    # One that is not found has expired meanwhile.
    for found in results.succeeded.values():
        known.setdefault(found.producer_id, set()).update(found.partitions)
    return known
