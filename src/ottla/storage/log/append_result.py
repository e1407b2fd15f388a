"""What an append returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class AppendResult(NamedTuple):
    """Where a batch is in the log. For a duplicate, where the batch was first appended."""

    first_offset: int
    last_offset: int
    log_append_time_ms: int
    is_duplicate: bool


# Skips the constructor call, as `new_header` does: every append makes one.
new_result: Callable[[type[AppendResult], tuple[object, ...]], AppendResult] = tuple.__new__
