"""Errors that only a share consumer raises or reports, with Kafka's names."""

from __future__ import annotations

from typing import Final

from ottla.client.errors import ApiError, error_for
from ottla.model import ErrorCode


class InvalidRecordStateError(ApiError):
    """The record is not locked by this member: its lock has ended, or it was acknowledged
    before."""


class ShareSessionNotFoundError(ApiError):
    """The broker has ended the share session, and released its records."""


class InvalidShareSessionEpochError(ApiError):
    """The broker and this client differ about the share session. Its records are released."""


class ShareSessionLimitReachedError(ApiError):
    """The broker has as many share sessions as `group.share.max.share.sessions` allows."""


_CLASSES: Final[dict[int, type[ApiError]]] = {
    ErrorCode.INVALID_RECORD_STATE: InvalidRecordStateError,
    ErrorCode.SHARE_SESSION_NOT_FOUND: ShareSessionNotFoundError,
    ErrorCode.INVALID_SHARE_SESSION_EPOCH: InvalidShareSessionEpochError,
    ErrorCode.SHARE_SESSION_LIMIT_REACHED: ShareSessionLimitReachedError,
}


def share_error(code: int, message: str) -> ApiError:
    """The exception for an error code of ShareFetch or ShareAcknowledge."""
    known = _CLASSES.get(code)
    return error_for(code, message) if known is None else known(ErrorCode(code), message)
