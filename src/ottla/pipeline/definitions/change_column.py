"""The column that describes how a row of a database was changed."""

from __future__ import annotations

from typing import Final

CHANGE: Final = "change"
CHANGE_FIELDS: Final = ("operation", "lsn", "number", "transaction", "committed", "unchanged")
