"""A partition leader's AddPartitionsToTxn requests to transaction coordinators (KIP-890)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from enum import Enum, auto
from itertools import groupby
from typing import Final, NamedTuple

from ottla.model import ErrorCode, TopicPartition
from ottla.replication.partition import Partition
from ottla.storage.producers.verification import Verification
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

_log = logging.getLogger(__name__)


class Supported(Enum):
    """The part of KIP-890 that a client supports, by the version of its request."""

    # Only the error codes from before KIP-890.
    OLD_ERRORS = auto()
    # Also the error code TRANSACTION_ABORTABLE.
    ABORTABLE = auto()
    # TransactionV2: the broker adds the partition to the transaction at the first append.
    ADDING = auto()


def supported_by_produce(version: int) -> Supported:
    if version > 11:
        return Supported.ADDING
    return Supported.ABORTABLE if version > 10 else Supported.OLD_ERRORS


def supported_by_offset_commit(version: int) -> Supported:
    if version > 4:
        return Supported.ADDING
    return Supported.ABORTABLE if version > 3 else Supported.OLD_ERRORS


class TransactionalProducer(NamedTuple):
    transactional_id: str | None
    producer_id: int
    producer_epoch: int


class UnverifiedBatch(NamedTuple):
    """A batch that may start a transaction in a partition. Coordinators' batches have no sequence
    number."""

    partition: Partition
    sequence: int


class Verified(NamedTuple):
    """The errors of partitions that failed verification, and the `Verification` of the others."""

    errors: Mapping[TopicPartition, ErrorCode]
    verifications: Mapping[TopicPartition, Verification]


NOTHING_TO_VERIFY: Final = Verified({}, {})


class VerificationRequest(NamedTuple):
    """A request to verify that partitions are in a transaction, or to add them to it."""

    producer: TransactionalProducer
    # Sorted.
    partitions: list[TopicPartition]
    supported: Supported
    # Called once, with the error codes of rejected partitions.
    callback: Callable[[dict[TopicPartition, ErrorCode]], None]

    @property
    def transactional_id(self) -> str:
        assert self.producer.transactional_id is not None
        return self.producer.transactional_id

    def fail(self, error: ErrorCode) -> None:
        self._call_back(dict.fromkeys(self.partitions, error))

    def answer(self, codes: Mapping[TopicPartition, ErrorCode]) -> None:
        """Calls back with the coordinator's errors, translated to codes that the client knows."""
        self._call_back(
            {name: _known_to_client(code, self.supported) for name, code in codes.items() if code}
        )

    def _call_back(self, refused: dict[TopicPartition, ErrorCode]) -> None:
        """Logs an exception of the callback, so that other requests still get their response."""
        try:
            self.callback(refused)
        except Exception:
            _log.exception("appending a verified batch of %r failed", self.transactional_id)


def request_of(requests: list[VerificationRequest]) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id=request.transactional_id,
                producer_id=request.producer.producer_id,
                producer_epoch=request.producer.producer_epoch,
                verify_only=request.supported is not Supported.ADDING,
                topics=[
                    AddPartitionsToTxnTopic(
                        name=topic, partitions=[name.partition for name in names]
                    )
                    for topic, names in groupby(request.partitions, lambda name: name.topic)
                ],
            )
            for request in requests
        ]
    )


def answer_all(requests: list[VerificationRequest], response: object) -> None:
    assert isinstance(response, AddPartitionsToTxnResponse)
    if response.error_code:
        error = ErrorCode(response.error_code)
        if error is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            # An error between brokers. For the client it means that verification failed.
            error = ErrorCode.INVALID_TXN_STATE
        for request in requests:
            request.fail(error)
        return
    results = {
        (result.transactional_id, topic.name, each.partition_index): each.partition_error_code
        for result in response.results_by_transaction
        for topic in result.topic_results
        for each in topic.results_by_partition
    }
    for request in requests:
        request.answer(
            {
                name: ErrorCode(
                    results.get((request.transactional_id, *name), ErrorCode.UNKNOWN_SERVER_ERROR)
                )
                for name in request.partitions
            }
        )


def _known_to_client(code: ErrorCode, supported: Supported) -> ErrorCode:
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and supported is Supported.OLD_ERRORS:
        return ErrorCode.INVALID_TXN_STATE
    return code
