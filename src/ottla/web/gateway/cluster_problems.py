"""The problem that an error of a client of the cluster is for the caller of an HTTP server."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from ottla.client.errors import (
    BufferFullError,
    ClientError,
    ConfigError,
    ConnectionFailedError,
    IllegalStateError,
    RefusedConnectionError,
    SerializationError,
    TimedOutError,
)
from ottla.model import ErrorCode, KafkaError
from ottla.web.gateway.problems import (
    RETRY_AFTER_S,
    GatewayProblem,
    bad_request,
    too_many,
    unauthorized,
)

# What clients of a cluster raise.
CLIENT_ERRORS: Final = (ClientError, KafkaError)

# The rest are 503 where a repetition may help and 502 where it does not.
_STATUS: Final[dict[ErrorCode, int]] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: 404,
    ErrorCode.UNKNOWN_TOPIC_ID: 404,
    ErrorCode.GROUP_ID_NOT_FOUND: 404,
    ErrorCode.OFFSET_OUT_OF_RANGE: 416,
    ErrorCode.MESSAGE_TOO_LARGE: 413,
    ErrorCode.RECORD_LIST_TOO_LARGE: 413,
    ErrorCode.OFFSET_METADATA_TOO_LARGE: 413,
    ErrorCode.INVALID_TOPIC_EXCEPTION: 400,
    ErrorCode.INVALID_GROUP_ID: 400,
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.INVALID_TIMESTAMP: 400,
    ErrorCode.INVALID_RECORD: 400,
    ErrorCode.INVALID_CONFIG: 400,
    ErrorCode.INVALID_REGULAR_EXPRESSION: 400,
    ErrorCode.INVALID_SESSION_TIMEOUT: 400,
    ErrorCode.POLICY_VIOLATION: 422,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: 403,
    ErrorCode.GROUP_AUTHORIZATION_FAILED: 403,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: 403,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: 403,
    ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED: 403,
    ErrorCode.SASL_AUTHENTICATION_FAILED: 401,
    ErrorCode.UNSUPPORTED_SASL_MECHANISM: 401,
    ErrorCode.ILLEGAL_SASL_STATE: 401,
    ErrorCode.GROUP_MAX_SIZE_REACHED: 409,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL: 409,
    ErrorCode.ILLEGAL_GENERATION: 409,
    ErrorCode.UNKNOWN_MEMBER_ID: 409,
    ErrorCode.FENCED_INSTANCE_ID: 409,
    ErrorCode.FENCED_MEMBER_EPOCH: 409,
    ErrorCode.STALE_MEMBER_EPOCH: 409,
    ErrorCode.REBALANCE_IN_PROGRESS: 409,
    ErrorCode.NON_EMPTY_GROUP: 409,
    ErrorCode.THROTTLING_QUOTA_EXCEEDED: 429,
    ErrorCode.REQUEST_TIMED_OUT: 504,
}

_RETRIABLE: Final = frozenset((409, 429, 503, 504))


def problem_of(error: Exception) -> GatewayProblem:
    """Of an error of the client or of a node."""
    if isinstance(error, GatewayProblem):
        return error
    if isinstance(error, KafkaError):
        return _of_code(error)
    if isinstance(error, RefusedConnectionError):
        return unauthorized(str(error))
    if isinstance(error, BufferFullError):
        return too_many("BUFFER_EXHAUSTED", str(error))
    if isinstance(error, TimedOutError):
        return GatewayProblem(504, ErrorCode.REQUEST_TIMED_OUT.name, str(error), retriable=True)
    if isinstance(error, ConnectionFailedError):
        return GatewayProblem(503, ErrorCode.BROKER_NOT_AVAILABLE.name, str(error), retriable=True)
    if isinstance(error, IllegalStateError):
        return GatewayProblem(409, "ILLEGAL_STATE", str(error))
    if isinstance(error, ConfigError | SerializationError):
        return bad_request(str(error))
    if isinstance(error, ClientError):
        return GatewayProblem(502, ErrorCode.UNKNOWN_SERVER_ERROR.name, str(error))
    raise error


def _of_code(error: KafkaError) -> GatewayProblem:
    code = error.code
    status = _STATUS.get(code, 503 if code.retriable else 502)
    # A topic that does not exist may be created; the same request does not wait for that.
    retriable = code.retriable and status in _RETRIABLE
    if status == HTTPStatus.UNAUTHORIZED:
        return unauthorized(str(error))
    headers = {"Retry-After": str(RETRY_AFTER_S)} if status in (429, 503) else {}
    return GatewayProblem(
        status,
        code.name,
        error.message or code.name,
        retriable=retriable,
        headers=headers,
        more={"error_code": int(code)},
    )
