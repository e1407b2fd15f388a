"""The errors of readers and writers. Spark shows their messages to the user of the query."""

from __future__ import annotations

from ottla.model import ErrorCode


class OptionError(ValueError):
    """An option is missing, malformed or contradicts another one."""


class DataLossError(RuntimeError):
    """Records that the query was to read are gone, and `failOnDataLoss` is not false."""


class UnreadableBatchError(RuntimeError):
    """A record batch cannot be decoded. The message names its partition and offsets."""


class ClusterError(RuntimeError):
    """The cluster cannot be reached, or has rejected a request: then there may be a `code`."""

    def __init__(self, message: str, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        self.code = code
