"""`ottla transactions abort` at work."""

from __future__ import annotations

from typing import Final

from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.transactions.admin import OpenTransaction, TransactionAdmin
from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.system_clock import SystemClock
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

# Retried: the transaction is being aborted, or its coordinator is moving.
_RETRIED: Final = (
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
)
_ATTEMPTS: Final = 100
_PAUSE_SECONDS: Final = 0.1
# No producer begins a transaction with the epoch that this takes.
_TIMEOUT_MS: Final = 1


async def run_abort(
    admin: ClusterAdmin,
    terminal: Terminal,
    transactional_id: str | None,
    *,
    topic: str | None,
    partition: int | None,
    start_offset: int | None,
) -> None:
    transactions = await TransactionAdmin.open(admin)
    if transactional_id is not None and topic is None:
        await _fence(transactions, transactional_id)
        terminal.notice(
            f"Aborted the transaction of {transactional_id}, if one was open; its producer is "
            "fenced."
        )
        return
    if transactional_id is not None or topic is None or partition is None or start_offset is None:
        raise CommandError(
            "Name the transaction by its ID, or by --topic, --partition and --start-offset.",
            exit_code=ExitCode.USAGE,
        )
    name = TopicPartition(topic, partition)
    await _write_marker(transactions, await _open_at(transactions, name, start_offset))
    terminal.notice(f"The transaction at offset {start_offset} of {topic}-{partition} is aborted.")


async def _fence(transactions: TransactionAdmin, transactional_id: str) -> None:
    """Takes the id over, as its next producer would."""
    await transactions.describe(transactional_id)
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=_TIMEOUT_MS
    )
    error = ErrorCode.NONE
    for _ in range(_ATTEMPTS):
        coordinator = await transactions.coordinator_of(transactional_id)
        response = await transactions.send_request(coordinator, request)
        error = ErrorCode(response.error_code)
        if error is ErrorCode.NONE:
            return
        if error not in _RETRIED:
            break
        await SystemClock().sleep(_PAUSE_SECONDS)
    raise refusal(f"abort the transaction of {transactional_id}", error, None)


async def _open_at(
    transactions: TransactionAdmin, name: TopicPartition, start_offset: int
) -> OpenTransaction:
    transactions.leader_of(name)
    found = [
        each
        for each in await transactions.open_transactions(name.topic)
        if each.partition == name.partition
    ]
    for each in found:
        if each.start_offset == start_offset:
            return each
    starts = ", ".join(str(each.start_offset) for each in found)
    raise CommandError(
        f"No transaction of {name.topic}-{name.partition} begins at offset {start_offset}.",
        f"Open transactions begin at {starts}."
        if found
        else "No transaction is open in this partition.",
    )


async def _write_marker(transactions: TransactionAdmin, opened: OpenTransaction) -> None:
    name = TopicPartition(opened.topic, opened.partition)
    request = WriteTxnMarkersRequest(
        markers=[
            WritableTxnMarker(
                producer_id=opened.producer_id,
                producer_epoch=opened.producer_epoch,
                transaction_result=False,
                topics=[
                    WritableTxnMarkerTopic(name=name.topic, partition_indexes=[name.partition])
                ],
                coordinator_epoch=max(opened.coordinator_epoch, 0),
            )
        ]
    )
    response = await transactions.send_request(transactions.leader_of(name), request)
    (result,) = [
        partition.error_code
        for marker in response.markers
        for topic in marker.topics
        for partition in topic.partitions
    ]
    if result:
        raise refusal(f"abort the transaction in {name.topic}-{name.partition}", result, None)
