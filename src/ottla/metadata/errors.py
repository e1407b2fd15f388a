"""What can be wrong with metadata."""

from __future__ import annotations


class MetadataError(Exception):
    """A record that contradicts what the records before it said. The log is not to be trusted."""
