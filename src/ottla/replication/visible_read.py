"""What a consumer may see of a read from a log with held batches."""

from __future__ import annotations

from typing import Final

from ottla.replication.partition_read import PartitionRead
from ottla.storage.batches.visible_batches import visible_batches
from ottla.storage.files.file_slice import FileSlice, MemorySlice

# Read at once by a request, of all its partitions: checked in a few milliseconds, even in small
# batches.
READ_BYTES_MAX: Final = 256 << 10


class ColdReadError(Exception):
    """The records are not in the page cache: they have to be read on a worker first."""

    def __init__(self, records: FileSlice) -> None:
        super().__init__("cold read")
        self.records = records


def visible_read(read: PartitionRead, *, may_wait: bool) -> PartitionRead:
    """The read without held records. Unless it `may_wait` for the disk, raises `ColdReadError` if
    it would have to."""
    records = read.records
    if records is None or isinstance(records, MemorySlice):
        return read
    data = records.read_cached()
    if data is None:
        if not may_wait:
            raise ColdReadError(records)
        data = records.read()
    visible = visible_batches(data)
    if not visible:
        return read._replace(records=None)
    return read._replace(records=MemorySlice(visible, records.offset_count))
