"""Errors that end a replica."""

from __future__ import annotations


class CommittedRecordsLostError(Exception):
    """A leader lacks committed records. Following it would delete them here, too: the node has to
    stop."""
