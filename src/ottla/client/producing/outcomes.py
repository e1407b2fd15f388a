"""What a broker's answer means for a batch. Kafka's rules, without I/O."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from ottla.client.producing.batch import NO_IDENTITY, ProducerBatch
from ottla.client.producing.partition_queue import PartitionQueue
from ottla.model import ErrorCode

_TOO_LARGE: Final = (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE)
_LOST_STATE: Final = (ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_EPOCH)
# A partition's new leader may be known, so no time is lost.
LEADER_MOVED: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})


class BatchOutcome(Enum):
    """What happens to the batch next."""

    WRITTEN = auto()
    # Sent again as it is.
    AGAIN = auto()
    # Sent again in two parts.
    SPLIT = auto()
    # Sent again under the next epoch: a sequence number before it is missing on the leader.
    RESTART = auto()
    FAILED = auto()


def outcome(
    code: ErrorCode, batch: ProducerBatch, queue: PartitionQueue, *, retries: int
) -> BatchOutcome:
    if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
        return BatchOutcome.WRITTEN
    if batch.is_done:
        # It has expired.
        return BatchOutcome.FAILED
    if code in _TOO_LARGE:
        return BatchOutcome.SPLIT if batch.count > 1 else BatchOutcome.FAILED
    has_retries = batch.attempts <= retries
    is_idempotent = batch.identity != NO_IDENTITY
    if is_idempotent and code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
        return _out_of_order(batch, queue)
    if is_idempotent and code in _LOST_STATE:
        return BatchOutcome.RESTART
    return BatchOutcome.AGAIN if code.retriable and has_retries else BatchOutcome.FAILED


def _out_of_order(batch: ProducerBatch, queue: PartitionQueue) -> BatchOutcome:
    """An earlier batch has to be sent again first, unless this one was the next."""
    if not queue.is_unresolved and not queue.is_next(batch):
        return BatchOutcome.AGAIN
    if not queue.is_unresolved or queue.is_first(batch):
        return BatchOutcome.RESTART
    return BatchOutcome.AGAIN
