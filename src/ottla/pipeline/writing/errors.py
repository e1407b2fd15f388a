"""What can go wrong for a writer. Spark shows the message to whoever runs the query."""

from __future__ import annotations


class RowError(ValueError):
    """A row cannot be written as it is."""


class FencedError(RuntimeError):
    """Another attempt at the same work has begun, and this one may not go on."""


class TransactionLostError(RuntimeError):
    """A transaction was aborted, most likely because it took too long, and so are its rows."""


class ReplayError(RuntimeError):
    """What is written again is not what was written before, or not all of it."""
