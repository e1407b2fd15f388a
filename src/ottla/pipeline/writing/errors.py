"""The errors of a writer. Spark shows their messages to the user of the query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from ottla.client.errors import ApiError, ClientError, TimedOutError
from ottla.client.two_phase.errors import FencedError, ReplayError, TransactionLostError
from ottla.model import ErrorCode
from ottla.pipeline.reading.errors import ClusterError, OptionError
from ottla.pipeline.writing.options import SinkOptions


class RowError(ValueError):
    """A row cannot be written as it is."""


_REFUSED_FOR_CONTENT: Final[Mapping[ErrorCode, str]] = {
    ErrorCode.MESSAGE_TOO_LARGE: "a row is too large: raise the topic's max.message.bytes",
    ErrorCode.RECORD_LIST_TOO_LARGE: "a row is too large: raise the topic's segment.bytes",
    ErrorCode.INVALID_RECORD: "a compacted topic needs rows with a key: set the column key",
}
_FENCED: Final = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)


@contextmanager
def explained(options: SinkOptions) -> Iterator[None]:
    """Raises the client's errors as those of the sink, which name its options."""
    try:
        yield
    except (FencedError, ReplayError, TransactionLostError):
        raise
    except ClientError as error:
        raise _explained(error, options) from error


def _explained(error: ClientError, options: SinkOptions) -> Exception:
    refusal = _refusal(error)
    if refusal is None:
        if isinstance(error, TimedOutError):
            return ClusterError(f"no response for {options.delivery_timeout_ms} ms: {error}")
        return ClusterError(str(error))
    if refusal.code is ErrorCode.INVALID_TRANSACTION_TIMEOUT:
        return OptionError(
            f"the brokers do not allow a transaction timeout of {options.transaction_timeout_ms} "
            "ms: lower kafka.transaction.timeout.ms, or raise their transaction.max.timeout.ms"
        )
    if refusal.code in _FENCED:
        return FencedError(
            f"{refusal.message}: another attempt at the same rows has begun, or this one took "
            f"longer than kafka.transaction.timeout.ms ({options.transaction_timeout_ms})"
        )
    if refusal.code in _REFUSED_FOR_CONTENT:
        advice = _REFUSED_FOR_CONTENT[refusal.code]
        return RowError(f"{refusal.message} ({refusal.code.name}): {advice}")
    return ClusterError(f"{refusal.message} ({refusal.code.name})", refusal.code)


def _refusal(error: BaseException | None) -> ApiError | None:
    """The answer of a broker for which the error was raised."""
    while error is not None and not isinstance(error, ApiError):
        error = error.__cause__
    return error
