"""Operation counters of a simulated disk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class DiskCounters:
    """The number of calls per operation. To reset, replace the disk's `counters`."""

    opens: int = 0
    reads: int = 0
    bytes_read: int = 0
    writes: int = 0
    bytes_written: int = 0
    truncations: int = 0
    syncs: int = 0
    renames: int = 0
    directory_syncs: int = 0
