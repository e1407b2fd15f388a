"""The one exception that bytes from outside can cause."""

from __future__ import annotations


class ProtocolError(Exception):
    """Bytes that are not what the protocol says they should be. The message says where and why."""
