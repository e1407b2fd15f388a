"""Which failures are tried again, after how long, and what they say about the client's metadata."""

from __future__ import annotations

from typing import Final

from ottla.channels import ChannelError, NotSentError, UnknownRequestError
from ottla.channels.authentication import AuthenticationFailedError
from ottla.client.errors import (
    ApiError,
    ClientError,
    ConnectionFailedError,
    RefusedConnectionError,
    UnsupportedVersionError,
    error_for,
)
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.dice import Dice
from ottla.runtime.tls.errors import TlsHandshakeError

_JITTER: Final = 0.2
_DOUBLINGS_MAX: Final = 30
# Kafka's InvalidMetadataExceptions: the client knows an old leader, topic or controller.
STALE_METADATA: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.LISTENER_NOT_FOUND,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    }
)


def backoff_seconds(failures: int, *, first_ms: int, max_ms: int, dice: Dice) -> float:
    """The time before the next attempt after this many failures in a row (KIP-580)."""
    doublings = min(max(failures - 1, 0), _DOUBLINGS_MAX)
    return dice.jitter(min(first_ms << doublings, max_ms), fraction=_JITTER) / 1_000


def is_refusal(error: ChannelError) -> bool:
    """Whether trying again is of no use: the node refuses the credentials, or this side the node's
    certificate."""
    cause = error.__cause__
    return isinstance(error, AuthenticationFailedError) or (
        isinstance(cause, TlsHandshakeError) and cause.is_untrusted
    )


def final_error(error: KafkaError | ChannelError, what: str) -> ClientError | None:
    """The exception for a failure that is not tried again; None for one that is."""
    if isinstance(error, ChannelError):
        error = origin(error)
    if isinstance(error, UnknownRequestError):
        return UnsupportedVersionError(ErrorCode.UNSUPPORTED_VERSION, f"{what}: {error}")
    if isinstance(error, ChannelError):
        return RefusedConnectionError(f"{what}: {error}") if is_refusal(error) else None
    return None if error.retriable else named(error)


def origin(error: ChannelError) -> ChannelError:
    """The error of the attempt to connect, which a `NotSentError` of a peer has as its cause."""
    cause = error.__cause__
    return cause if isinstance(error, NotSentError) and isinstance(cause, ChannelError) else error


def named(error: KafkaError) -> ApiError:
    """The same error as an exception with Kafka's name."""
    return error if isinstance(error, ApiError) else error_for(error.code, error.message)


def public_error(error: KafkaError | ChannelError, what: str) -> ClientError:
    """The exception for any failure, for callers that do not try again."""
    if isinstance(error, KafkaError):
        return named(error)
    error = origin(error)
    return final_error(error, what) or ConnectionFailedError(f"{what}: {error}")
