"""Transactions as the commands show them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.client.administration.transactions import (
    ActiveProducer,
    ListedTransaction,
    TransactionDescription,
)
from ottla.client.errors import InvalidRequestError, TransactionalIdNotFoundError
from ottla.model import TopicPartition

_MS = 1_000


class OpenTransaction(NamedTuple):
    """A transaction as the leader of a partition knows it."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    start_offset: int
    last_timestamp_ms: int


async def list_transactions(
    admin: Admin,
    *,
    states: Sequence[str] = (),
    producer_ids: Collection[int] = (),
    duration_ms: int | None = None,
    pattern: str | None = None,
) -> list[ListedTransaction]:
    with doing("list the transactions"):
        try:
            return await admin.list_transactions(
                states=states,
                producer_ids=producer_ids,
                longer_than=None if duration_ms is None else duration_ms / _MS,
                pattern=pattern,
            )
        except InvalidRequestError as error:
            raise CommandError(
                f"{error.message[:1].upper()}{error.message[1:]}.",
                "States are Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit and "
                "CompleteAbort.",
                exit_code=ExitCode.USAGE,
            ) from None


async def describe(admin: Admin, transactional_id: str) -> TransactionDescription:
    with doing(f"describe {transactional_id}"):
        try:
            return (await admin.describe_transactions([transactional_id]))[transactional_id]
        except TransactionalIdNotFoundError:
            raise CommandError(
                f"There is no transactional id {transactional_id}.",
                "`ottla transactions list` shows those that exist.",
            ) from None


async def open_transactions(
    admin: Admin, topic: str | None = None, partition: int | None = None
) -> list[OpenTransaction]:
    """In all partitions that have a leader."""
    with doing("list the topics"):
        topics = await admin.list_topics()
    if topic is not None and topic not in topics:
        raise CommandError(f"There is no topic {topic}.")
    names = [
        TopicPartition(name, each.partition)
        for name, described in topics.items()
        if topic in (None, name)
        for each in described.partitions
        if each.leader is not None and partition in (None, each.partition)
    ]
    with doing("describe producers"):
        results = await admin.describe_producers(names)
    # Of all topics, those are left out that this user may not read.
    if topic is not None:
        for name, error in results.failed.items():
            raise refused(f"describe the producers of {name}", error)
    return sorted(
        _opened(name, producer)
        for name, producers in results.succeeded.items()
        for producer in producers
        if producer.start_offset is not None
    )


def _opened(name: TopicPartition, producer: ActiveProducer) -> OpenTransaction:
    assert producer.start_offset is not None
    return OpenTransaction(
        name.topic,
        name.partition,
        producer.producer_id,
        producer.producer_epoch,
        -1 if producer.coordinator_epoch is None else producer.coordinator_epoch,
        producer.start_offset,
        -1 if producer.last_timestamp is None else producer.last_timestamp,
    )
