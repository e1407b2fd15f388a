"""WriteTxnMarkers, versions 1 and 2: writes transaction markers to partitions led by this node.

Sent by transaction coordinators. The response is sent when all in-sync replicas have the markers.
In `__consumer_offsets` the group coordinator writes them, and commits or drops the transaction's
offsets. From version 2 on a marker has the transaction version of its transaction. Errors per
partition: CLUSTER_AUTHORIZATION_FAILED without ALTER or CLUSTER_ACTION, UNKNOWN_TOPIC_OR_PARTITION,
NOT_LEADER_OR_FOLLOWER (also while a group coordinator is loading), NOT_ENOUGH_REPLICAS,
NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT, KAFKA_STORAGE_ERROR, INVALID_TOPIC_EXCEPTION
for other internal topics, TRANSACTION_COORDINATOR_FENCED. INVALID_PRODUCER_EPOCH is not retried.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.marker_appending import MarkerAppender
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.coordinator.runtime.transactional import TransactionMarker
from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.clock import Clock, Timer
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.wire.schema import Message

# Group coordinator errors, translated to one that transaction coordinators retry.
_TRANSLATED: Final = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.NOT_COORDINATOR: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}


@handles(
    ApiKey.WRITE_TXN_MARKERS,
    rights=(
        Right(AclOperation.ALTER, ResourceType.CLUSTER),
        Right(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER),
    ),
)
def write_txn_markers(
    context: RequestContext,
    request: WriteTxnMarkersRequest,
    *,
    cluster: ClusterView,
    clock: Clock,
    markers: MarkerAppender,
) -> Message | Pending:
    if not _may_write(context.rights):
        return _refusal(request)
    writing = _Writing(markers, clock, timeout_ms=cluster.config.request_timeout_ms)
    for marker in request.markers:
        writing.write(marker)
    return writing.wait()


def _may_write(rights: Rights) -> bool:
    return rights.allows_quietly(
        AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME
    ) or rights.allows(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME)


def _refusal(request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(
                                partition_index=index,
                                error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
                            )
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )


class _Writing:
    """The markers of one request. Responds when all are written, or at the timeout."""

    __slots__ = (
        "_clock",
        "_count",
        "_markers",
        "_missing",
        "_pending",
        "_response",
        "_timeout_ms",
        "_timer",
    )

    def __init__(self, markers: MarkerAppender, clock: Clock, *, timeout_ms: int) -> None:
        self._markers = markers
        self._clock = clock
        self._timeout_ms = timeout_ms
        self._response = WriteTxnMarkersResponse()
        # Results of unwritten markers, by a running number.
        self._missing: dict[int, WritableTxnMarkerPartitionResult] = {}
        self._count = 0
        self._timer: Timer | None = None
        self._pending = Pending(on_abandoned=self._stop)

    def write(self, requested: WritableTxnMarker) -> None:
        marker = TransactionMarker(
            requested.producer_id,
            requested.producer_epoch,
            requested.coordinator_epoch,
            requested.transaction_result,
            requested.transaction_version,
        )
        now_ms = self._clock.now_ms()
        batch = marker.batch(now_ms=now_ms)
        result = WritableTxnMarkerResult(producer_id=requested.producer_id)
        self._response.markers.append(result)
        for topic in requested.topics:
            answers = [
                WritableTxnMarkerPartitionResult(partition_index=index)
                for index in topic.partition_indexes
            ]
            result.topics.append(WritableTxnMarkerTopicResult(name=topic.name, partitions=answers))
            for answer in answers:
                self._count += 1
                self._missing[self._count] = answer
                name = TopicPartition(topic.name, answer.partition_index)
                callback = partial(self._written, self._count)
                self._markers.append(name, marker, batch, callback, now_ms=now_ms)

    def _written(self, number: int, error: ErrorCode) -> None:
        answer = self._missing.pop(number, None)
        if answer is None:
            # The request has already timed out.
            return
        answer.error_code = _TRANSLATED.get(error, error)
        if self._timer is not None and not self._missing:
            self._finish()

    def wait(self) -> Message | Pending:
        if not self._missing:
            return self._response
        seconds = self._timeout_ms / 1_000
        self._timer = self._clock.call_later(seconds, self._time_is_up)
        return self._pending

    def _time_is_up(self) -> None:
        for answer in self._missing.values():
            answer.error_code = ErrorCode.REQUEST_TIMED_OUT
        self._missing.clear()
        self._finish()

    def _finish(self) -> None:
        self._stop()
        self._pending.resolve(self._response)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
