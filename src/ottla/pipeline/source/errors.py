"""What can go wrong for a reader. Spark shows the message to whoever runs the query."""

from __future__ import annotations


class OptionError(ValueError):
    """An option is missing, malformed or contradicts another one."""


class DataLossError(RuntimeError):
    """Records that the query was to read are gone, and `failOnDataLoss` is not false."""


class ClusterError(RuntimeError):
    """The cluster cannot be reached, or refuses what was asked."""
