"""Why a batch cannot be committed."""

from __future__ import annotations

from ottla.client.errors import ClientError


class FencedError(ClientError, RuntimeError):
    """A newer attempt at the same work has fenced this one."""


class TransactionLostError(ClientError, RuntimeError):
    """A transaction was aborted before its commit, usually because it timed out."""


class ReplayError(ClientError, RuntimeError):
    """A repeated batch differs from the first attempt, or is older than the last decision."""
