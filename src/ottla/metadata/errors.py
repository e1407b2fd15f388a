"""Errors in metadata."""

from __future__ import annotations


class MetadataError(Exception):
    """A record that contradicts the records before it. The log cannot be trusted."""
