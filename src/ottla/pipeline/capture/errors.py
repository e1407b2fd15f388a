"""What goes wrong between a database and a query."""

from __future__ import annotations


class CaptureError(Exception):
    """The message says what to do."""
