"""The exceptions of a client.

`ClientError` is the base of all of them. An error that a node answered is also a `KafkaError`, with
its code, and has Kafka's name where applications catch it. `retriable` says whether the same call
may succeed if it is repeated.
"""

from __future__ import annotations

from typing import Final

from ottla.model import ErrorCode, KafkaError


class ClientError(Exception):
    """Base of all errors of a client."""

    @property
    def retriable(self) -> bool:
        """Whether the same call may succeed if it is repeated."""
        return False


class ConfigError(ClientError, ValueError):
    """A property is unknown, or its value cannot be used. `hints` say what to do."""

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(" ".join((message, *hints)))
        self.message = message
        self.hints = hints

    def __reduce__(self) -> tuple[type[ConfigError], tuple[str, ...]]:
        return type(self), (self.message, *self.hints)


class IllegalStateError(ClientError):
    """The call is not possible now, for example on a closed client or outside a transaction."""


class SerializationError(ClientError, TypeError):
    """A key, value, header or column has a type that cannot be written."""


class ConnectionFailedError(ClientError):
    """No node could be reached."""

    retriable = True


class RefusedConnectionError(ConnectionFailedError):
    """A node refused this client's credentials, or this client the node's certificate. Correct
    them first: the client does not try again by itself."""

    retriable = False


class TimedOutError(ClientError):
    """The time given was not enough. The cause is the last failure."""

    retriable = True


class BufferFullError(TimedOutError):
    """Records were not sent within `max.block.ms` because `buffer.memory` is full."""


class TransactionAbortedError(ClientError):
    """The record was not sent, because its transaction was aborted."""


class ApiError(KafkaError, ClientError):
    """A node answered with an error code."""


class UnknownTopicOrPartitionError(ApiError):
    """The topic or partition does not exist, or this client may not see it."""


class UnknownTopicIdError(ApiError):
    """The topic was deleted, and perhaps created again."""


class InvalidTopicError(ApiError):
    """The topic's name is invalid, or the topic is internal."""


class TopicAlreadyExistsError(ApiError):
    pass


class InvalidPartitionsError(ApiError):
    pass


class InvalidReplicationFactorError(ApiError):
    pass


class InvalidConfigurationError(ApiError):
    pass


class PolicyViolationError(ApiError):
    pass


class LeaderNotAvailableError(ApiError):
    pass


class NotLeaderOrFollowerError(ApiError):
    pass


class NotEnoughReplicasError(ApiError):
    """Fewer replicas are in sync than `min.insync.replicas`."""


class NotEnoughReplicasAfterAppendError(ApiError):
    pass


class NotControllerError(ApiError):
    pass


class CoordinatorNotAvailableError(ApiError):
    pass


class CoordinatorLoadInProgressError(ApiError):
    pass


class NotCoordinatorError(ApiError):
    pass


class RecordTooLargeError(ApiError):
    pass


class RecordBatchTooLargeError(ApiError):
    pass


class InvalidRecordError(ApiError):
    """The broker rejected a record, for example one without a key in a compacted topic."""


class InvalidTimestampError(ApiError):
    pass


class CorruptRecordError(ApiError):
    pass


class OffsetOutOfRangeError(ApiError):
    pass


class OffsetMetadataTooLargeError(ApiError):
    pass


class UnstableOffsetCommitError(ApiError):
    """Offsets of an open transaction are pending for the partition."""


class KafkaStorageError(ApiError):
    pass


class TopicAuthorizationError(ApiError):
    pass


class GroupAuthorizationError(ApiError):
    pass


class ClusterAuthorizationError(ApiError):
    pass


class TransactionalIdAuthorizationError(ApiError):
    pass


class SaslAuthenticationError(ApiError):
    pass


class UnsupportedVersionError(ApiError):
    """The node supports no version of the request that this client can use."""


class OutOfOrderSequenceError(ApiError):
    """Records before this batch are missing on the broker."""


class UnknownProducerIdError(ApiError):
    pass


class InvalidProducerIdMappingError(ApiError):
    """The transactional id expired, or a newer producer has another id."""


class ProducerFencedError(ApiError):
    """A newer producer uses the same transactional id, or the transaction timed out."""


class InvalidTxnStateError(ApiError):
    pass


class ConcurrentTransactionsError(ApiError):
    pass


class TransactionAbortableError(ApiError):
    """Abort the transaction; a new one may succeed."""


class InvalidTransactionTimeoutError(ApiError):
    pass


class IllegalGenerationError(ApiError):
    """The group has rebalanced since."""


class UnknownMemberIdError(ApiError):
    pass


class RebalanceInProgressError(ApiError):
    pass


class FencedInstanceIdError(ApiError):
    """Another member uses the same `group.instance.id`."""


class FencedMemberEpochError(ApiError):
    pass


class StaleMemberEpochError(ApiError):
    pass


class UnreleasedInstanceIdError(ApiError):
    pass


class UnsupportedAssignorError(ApiError):
    pass


class InconsistentGroupProtocolError(ApiError):
    pass


class GroupMaxSizeReachedError(ApiError):
    pass


class InvalidGroupIdError(ApiError):
    pass


class GroupIdNotFoundError(ApiError):
    pass


class GroupNotEmptyError(ApiError):
    pass


class InvalidRegularExpressionError(ApiError):
    pass


class TransactionalIdNotFoundError(ApiError):
    pass


class ThrottlingQuotaExceededError(ApiError):
    pass


class CommitFailedError(ApiError):
    """The member is no longer part of the group, so its partitions may have another owner."""


class ElectionNotNeededError(ApiError):
    pass


class NoReassignmentInProgressError(ApiError):
    pass


class InvalidRequestError(ApiError):
    pass


CLASSES: Final[dict[ErrorCode, type[ApiError]]] = {
    ErrorCode.OFFSET_OUT_OF_RANGE: OffsetOutOfRangeError,
    ErrorCode.CORRUPT_MESSAGE: CorruptRecordError,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: UnknownTopicOrPartitionError,
    ErrorCode.LEADER_NOT_AVAILABLE: LeaderNotAvailableError,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: NotLeaderOrFollowerError,
    ErrorCode.MESSAGE_TOO_LARGE: RecordTooLargeError,
    ErrorCode.OFFSET_METADATA_TOO_LARGE: OffsetMetadataTooLargeError,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: CoordinatorLoadInProgressError,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: CoordinatorNotAvailableError,
    ErrorCode.NOT_COORDINATOR: NotCoordinatorError,
    ErrorCode.INVALID_TOPIC_EXCEPTION: InvalidTopicError,
    ErrorCode.RECORD_LIST_TOO_LARGE: RecordBatchTooLargeError,
    ErrorCode.NOT_ENOUGH_REPLICAS: NotEnoughReplicasError,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: NotEnoughReplicasAfterAppendError,
    ErrorCode.ILLEGAL_GENERATION: IllegalGenerationError,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL: InconsistentGroupProtocolError,
    ErrorCode.INVALID_GROUP_ID: InvalidGroupIdError,
    ErrorCode.UNKNOWN_MEMBER_ID: UnknownMemberIdError,
    ErrorCode.REBALANCE_IN_PROGRESS: RebalanceInProgressError,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: TopicAuthorizationError,
    ErrorCode.GROUP_AUTHORIZATION_FAILED: GroupAuthorizationError,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: ClusterAuthorizationError,
    ErrorCode.INVALID_TIMESTAMP: InvalidTimestampError,
    ErrorCode.UNSUPPORTED_VERSION: UnsupportedVersionError,
    ErrorCode.TOPIC_ALREADY_EXISTS: TopicAlreadyExistsError,
    ErrorCode.INVALID_PARTITIONS: InvalidPartitionsError,
    ErrorCode.INVALID_REPLICATION_FACTOR: InvalidReplicationFactorError,
    ErrorCode.INVALID_CONFIG: InvalidConfigurationError,
    ErrorCode.NOT_CONTROLLER: NotControllerError,
    ErrorCode.INVALID_REQUEST: InvalidRequestError,
    ErrorCode.POLICY_VIOLATION: PolicyViolationError,
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER: OutOfOrderSequenceError,
    ErrorCode.INVALID_PRODUCER_EPOCH: ProducerFencedError,
    ErrorCode.INVALID_TXN_STATE: InvalidTxnStateError,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING: InvalidProducerIdMappingError,
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: InvalidTransactionTimeoutError,
    ErrorCode.CONCURRENT_TRANSACTIONS: ConcurrentTransactionsError,
    ErrorCode.TRANSACTION_COORDINATOR_FENCED: ProducerFencedError,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: TransactionalIdAuthorizationError,
    ErrorCode.KAFKA_STORAGE_ERROR: KafkaStorageError,
    ErrorCode.SASL_AUTHENTICATION_FAILED: SaslAuthenticationError,
    ErrorCode.UNKNOWN_PRODUCER_ID: UnknownProducerIdError,
    ErrorCode.NON_EMPTY_GROUP: GroupNotEmptyError,
    ErrorCode.GROUP_ID_NOT_FOUND: GroupIdNotFoundError,
    ErrorCode.GROUP_MAX_SIZE_REACHED: GroupMaxSizeReachedError,
    ErrorCode.FENCED_INSTANCE_ID: FencedInstanceIdError,
    ErrorCode.ELECTION_NOT_NEEDED: ElectionNotNeededError,
    ErrorCode.NO_REASSIGNMENT_IN_PROGRESS: NoReassignmentInProgressError,
    ErrorCode.INVALID_RECORD: InvalidRecordError,
    ErrorCode.UNSTABLE_OFFSET_COMMIT: UnstableOffsetCommitError,
    ErrorCode.THROTTLING_QUOTA_EXCEEDED: ThrottlingQuotaExceededError,
    ErrorCode.PRODUCER_FENCED: ProducerFencedError,
    ErrorCode.UNKNOWN_TOPIC_ID: UnknownTopicIdError,
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: TransactionalIdNotFoundError,
    ErrorCode.FENCED_MEMBER_EPOCH: FencedMemberEpochError,
    ErrorCode.UNRELEASED_INSTANCE_ID: UnreleasedInstanceIdError,
    ErrorCode.UNSUPPORTED_ASSIGNOR: UnsupportedAssignorError,
    ErrorCode.STALE_MEMBER_EPOCH: StaleMemberEpochError,
    ErrorCode.TRANSACTION_ABORTABLE: TransactionAbortableError,
    ErrorCode.INVALID_REGULAR_EXPRESSION: InvalidRegularExpressionError,
}


def error_for(code: int | ErrorCode, message: str) -> ApiError:
    """The exception for an error code, of its own class if it has one."""
    try:
        known = ErrorCode(code)
    except ValueError:
        known = ErrorCode.UNKNOWN_SERVER_ERROR
        message = f"{message} (error code {code}, unknown to this client)"
    return CLASSES.get(known, ApiError)(known, message)


def require(error_code: int, what: str, detail: str | None = None) -> None:
    """Raises the exception for an error code that is not zero."""
    if error_code:
        raise error_for(error_code, f"{what}: {detail}" if detail else what)
