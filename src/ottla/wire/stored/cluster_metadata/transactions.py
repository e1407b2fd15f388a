"""Metadata transactions and no-op records.

Transactions let more records than fit into one batch take effect at once (KIP-868).
"""

from __future__ import annotations

from ottla.wire.schema import Message, String, field


class BeginTransactionRecord(Message, api_key=23, versions="0", flexible="0+"):
    name: String | None = field(default=None, tag=0)


class EndTransactionRecord(Message, api_key=24, versions="0", flexible="0+"):
    pass


class AbortTransactionRecord(Message, api_key=25, versions="0", flexible="0+"):
    reason: String | None = field(default=None, tag=0)


class NoOpRecord(Message, api_key=20, versions="0", flexible="0+"):
    """Written when there are no other records, to advance the committed offset (KIP-835)."""
