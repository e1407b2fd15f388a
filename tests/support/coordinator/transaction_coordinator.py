"""A coordinator of transactions that says what the test wants, in the place of a node's own."""

from __future__ import annotations

from ottla.broker.transactions.verification_requests import (
    VerificationRequest,
    answer_all,
    request_of,
)
from ottla.model import ErrorCode
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from tests.support.nodes.one_node import OneNode

TRANSACTION_STATE = "__transaction_state"


class ScriptedCoordinator:
    """Says yes to everything, unless it is given `errors` to say one after the other. While it
    `is_held`, answers wait for `release`."""

    def __init__(self, node: OneNode) -> None:
        self.requested: list[AddPartitionsToTxnTransaction] = []
        self.errors: list[ErrorCode] = []
        self.response_error = ErrorCode.NONE
        self.is_held = False
        self._held: list[tuple[VerificationRequest, AddPartitionsToTxnResponse]] = []
        node.broker.verification.verify_here = self._verify
        node.create_topic(TRANSACTION_STATE, configs={"cleanup.policy": "compact"})

    def release(self) -> None:
        held, self._held = self._held, []
        for request, response in held:
            answer_all([request], response)

    def _verify(self, request: VerificationRequest) -> None:
        response = self._answer(request_of([request]))
        if self.is_held:
            self._held.append((request, response))
        else:
            answer_all([request], response)

    def _answer(self, request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnResponse:
        self.requested += request.transactions
        if self.response_error:
            return AddPartitionsToTxnResponse(error_code=self.response_error)
        error = self.errors.pop(0) if self.errors else ErrorCode.NONE
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                AddPartitionsToTxnResult(
                    transactional_id=transaction.transactional_id,
                    topic_results=[
                        AddPartitionsToTxnTopicResult(
                            name=topic.name,
                            results_by_partition=[
                                AddPartitionsToTxnPartitionResult(
                                    partition_index=index, partition_error_code=error
                                )
                                for index in topic.partitions
                            ],
                        )
                        for topic in transaction.topics
                    ],
                )
                for transaction in request.transactions
            ]
        )
