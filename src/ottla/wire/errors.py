"""The exception for invalid bytes from peers or files."""

from __future__ import annotations


class ProtocolError(Exception):
    """Bytes that violate the protocol. The message says where and why."""
