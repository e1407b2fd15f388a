"""What can go wrong for a reader or a writer. Spark shows the message to whoever runs the query."""

from __future__ import annotations

from ottla.model import ErrorCode


class OptionError(ValueError):
    """An option is missing, malformed or contradicts another one."""


class DataLossError(RuntimeError):
    """Records that the query was to read are gone, and `failOnDataLoss` is not false."""


class UnreadableBatchError(RuntimeError):
    """A record batch that the query was to read is not one. The message names its partition and
    offsets."""


class ClusterError(RuntimeError):
    """The cluster cannot be reached, or refuses what was asked, and then says why by a code."""

    def __init__(self, message: str, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        self.code = code
