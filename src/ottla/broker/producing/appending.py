"""Appends the batches of a Produce request and makes its response.

    received ──▶ verified ──▶ opened ──▶ appended ──▶ acknowledged
        │           ▲            ▲           ▲
        └───────────┴────────────┴───────────┘  steps that a request does not need are skipped

verified      transactional batches: transactional_produce.py
opened        batches whose records must be decoded or checked: opened_produce.py
acknowledged  appends that wait for replicas or for a sync: acknowledgement.py

A batch that is set aside in a dead letter topic has only its place appended: setting_aside.py.

Most requests go from received to appended in one call.
"""

from __future__ import annotations

from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext
from ottla.broker.network.leader_hints import LeaderHints
from ottla.broker.network.pending import Pending
from ottla.broker.producing.acknowledgement import Acknowledgement
from ottla.broker.producing.opened_produce import Opened, OpenedOutcome, Openings
from ottla.broker.producing.produced_partition import produced_partition
from ottla.broker.producing.setting_aside import set_aside_of
from ottla.broker.producing.transactional_produce import (
    TransactionalProduces,
    VerifiedProduce,
    claims_transaction,
)
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.validation.set_asides import SetAside
from ottla.broker.validation.validations import Validations
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.replication.partition import ACKS_ALL, Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.clock import Clock
from ottla.storage.batches.record_errors import InvalidRecordsError
from ottla.storage.log.append_result import AppendResult
from ottla.storage.log.group_commit import GroupCommit
from ottla.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.wire.schema import Message

_ACKS = (ACKS_ALL, 0, 1)
# Errors whose response includes the log start offset, as in Kafka.
_ABOUT_RECORDS: Final = (ErrorCode.INVALID_RECORD, ErrorCode.INVALID_TIMESTAMP)
_NOTHING_OPENED: Final[Opened] = {}


class Appending:
    """Handles the Produce requests of a node. Owned by its loop."""

    def __init__(
        self,
        cluster: ClusterView,
        partitions: Partitions,
        commit: GroupCommit,
        failures: StorageFailures,
        transactional: TransactionalProduces,
        openings: Openings,
        validations: Validations,
        clock: Clock,
    ) -> None:
        self._cluster = cluster
        self._partitions = partitions
        self._commit = commit
        self._failures = failures
        self._transactional = transactional
        self._openings = openings
        self._validations = validations
        self._clock = clock

    def append_transactional(
        self, context: RequestContext, request: ProduceRequest
    ) -> Message | Pending | None:
        """Verifies the request's transactions, then appends its batches."""
        verified = self._transactional.verified_at_once(context, request)
        if verified is not None:
            return self.append(context, request, verified)
        return self._transactional.run(context, request, self.append)

    def append(
        self,
        context: RequestContext,
        request: ProduceRequest,
        verified: VerifiedProduce | None = None,
    ) -> Message | Pending | None:
        """Returns the response, or a `Pending` for it. With acks=0 returns None, or raises
        `ConnectionAbortedError` if an append was rejected."""
        if self._openings.has_to_open(context.api_version, request):
            return self._openings.run(context, request, verified, self._append_all)
        return self._append_all(context, request, verified, _NOTHING_OPENED)

    def _append_all(
        self,
        context: RequestContext,
        request: ProduceRequest,
        verified: VerifiedProduce | None,
        opened: Opened,
    ) -> ProduceResponse | Pending | None:
        now_ms = self._clock.now_ms()
        acks, version, partitions = request.acks, context.api_version, self._partitions
        acknowledgement: Acknowledgement | None = None
        failed = False
        topics = []
        for topic in request.topic_data:
            answers = []
            for data in topic.partition_data:
                answer = PartitionProduceResponse(index=data.index)
                answers.append(answer)
                partition = None
                try:
                    if acks not in _ACKS:
                        raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={acks}")
                    partition = produced_partition(partitions, version, topic, data.index)
                    known = opened.get(id(data)) if opened else None
                    result = self._append(partition, data, acks, now_ms, verified, known)
                    letter = None
                    if known is not None or result.is_duplicate:
                        letter = set_aside_of(self._validations, partition, known, result)
                except KafkaError as error:
                    failed = True
                    _refuse(answer, error, partition)
                    _count_failure(data, partition)
                    continue
                log = partition.require_log()
                answer.base_offset, last_offset, answer.log_append_time_ms, is_duplicate = result
                traffic = partition.traffic
                traffic.produces += 1
                if letter is not None:
                    acknowledgement = acknowledgement or self._acknowledgement()
                    written = acknowledgement.expect_letter(answer)
                    self._validations.deliver(partition, letter, result, written)
                    continue
                if not is_duplicate:
                    traffic.received_bytes += len(data.records or b"")
                    traffic.received_records += last_offset + 1 - answer.base_offset
                answer.log_start_offset = log.log_start_offset
                is_replicated = acks != ACKS_ALL or partition.is_acknowledged(last_offset + 1)
                if not is_replicated or log.config.syncs_before_acknowledging:
                    acknowledgement = acknowledgement or self._acknowledgement()
                    acknowledgement.expect(partition, answer, result, is_replicated=is_replicated)
            topics.append(
                TopicProduceResponse(
                    name=topic.name, topic_id=topic.topic_id, partition_responses=answers
                )
            )
        response = ProduceResponse(responses=topics)
        if acks == 0:
            if failed:
                raise ConnectionAbortedError("an append with acks=0 was refused")
            return None
        if failed:
            self._add_hints(context, response)
        if acknowledgement is not None:
            return acknowledgement.wait(response, timeout_ms=request.timeout_ms)
        return response

    def _append(
        self,
        partition: Partition,
        data: PartitionProduceData,
        acks: int,
        now_ms: int,
        verified: VerifiedProduce | None,
        opened: OpenedOutcome | None,
    ) -> AppendResult:
        records, verification = data.records, None
        if records is None:
            raise KafkaError(ErrorCode.INVALID_RECORD, "a produce request without records")
        if verified is not None:
            verification = verified.require(partition.name)
        elif claims_transaction(records):
            raise KafkaError(
                ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                "a batch is transactional, but the request has no transactional id",
            )
        if isinstance(opened, KafkaError):
            # NOT_LEADER_OR_FOLLOWER takes precedence over this error.
            partition.require_leader()
            raise opened
        if isinstance(opened, SetAside):
            opened = opened.place
        with self._failures.translated(partition):
            return partition.append(
                records, now_ms=now_ms, acks=acks, verification=verification, opened=opened
            )

    def _acknowledgement(self) -> Acknowledgement:
        return Acknowledgement(self._commit, self._failures, self._clock)

    def _add_hints(self, context: RequestContext, response: ProduceResponse) -> None:
        hints = LeaderHints(self._cluster, context.listener, LeaderIdAndEpoch, NodeEndpoint)
        for topic in response.responses:
            for answer in topic.partition_responses:
                name = TopicPartition(topic.name, answer.index)
                answer.current_leader = hints.of(answer.error_code, name, topic.topic_id)
        response.node_endpoints = hints.endpoints()


def _count_failure(data: PartitionProduceData, partition: Partition | None) -> None:
    if partition is not None:
        traffic = partition.traffic
        traffic.produces += 1
        traffic.failed_produces += 1
        traffic.rejected_bytes += len(data.records or b"")


def _refuse(
    answer: PartitionProduceResponse, error: KafkaError, partition: Partition | None
) -> None:
    answer.error_code, answer.error_message = error.code, error.message
    answer.base_offset = -1
    if error.code in _ABOUT_RECORDS and partition is not None and partition.log is not None:
        answer.log_start_offset = partition.log.log_start_offset
    if isinstance(error, InvalidRecordsError):
        answer.record_errors = [
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=message)
            for index, message in error.record_errors
        ]
