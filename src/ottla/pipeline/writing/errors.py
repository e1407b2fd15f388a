"""The errors of a writer. Spark shows their messages to the user of the query."""

from __future__ import annotations


class RowError(ValueError):
    """A row cannot be written as it is."""


class FencedError(RuntimeError):
    """A newer attempt at the same work has fenced this one."""


class TransactionLostError(RuntimeError):
    """A transaction was aborted before its commit, usually because it timed out."""


class ReplayError(RuntimeError):
    """A repeated batch differs from the first attempt, or is older than the last decision."""
