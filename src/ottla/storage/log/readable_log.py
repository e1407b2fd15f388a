"""The read side of a log: offsets, what a reader may see, and the bytes to send."""

from __future__ import annotations

from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.storage.files.file_slice import FileSlice
from ottla.storage.indexes.offset_index import OffsetPosition
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.producers.producer_history import ProducerHistory
from ottla.storage.segments.segments import Segments


class ReadableLog:
    """The part of a log that readers use; `Log` adds what its owner uses.

    log_start_offset <= last_stable_offset <= high_watermark <= log_end_offset
    """

    def __init__(
        self,
        partition: TopicPartition,
        segments: Segments,
        producers: ProducerHistory,
        *,
        log_start_offset: int,
        log_end_offset: int,
    ) -> None:
        self.partition = partition
        self.segments = segments
        self.producers = producers
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset
        self.high_watermark = log_start_offset
        self._unstable = producers.state.unstable

    def read(
        self, offset: int, *, bytes_max: int, upper_offset: int, min_one_batch: bool = True
    ) -> FileSlice | None:
        """Returns the bytes from the batch that contains `offset` on: at most `bytes_max`, but with
        `min_one_batch` at least the whole first batch. Only batches that end below `upper_offset`,
        and never past the end of a segment. The last batch may be incomplete. Returns None if there
        is nothing to read yet, or if the limits leave no byte."""
        self.require_in_range(offset)
        if offset >= upper_offset:
            return None
        for segment in self.segments.starting_with(offset):
            if segment.base_offset >= upper_offset:
                return None
            found = segment.find(offset)
            if found is None:
                continue
            limit, end = segment.size, self.segments.end_offset(segment, self.log_end_offset)
            if upper_offset < end:
                bound, end = segment.find(upper_offset), upper_offset
                limit = limit if bound is None else bound.position
            wanted = max(bytes_max, found.size if min_one_batch else 0)
            readable = limit - found.position
            if readable <= 0 or wanted <= 0:
                return None
            count = end - offset
            if wanted >= readable:
                return FileSlice(segment.log_file, found.position, readable, count)
            return FileSlice(segment.log_file, found.position, wanted, count * wanted // readable)
        return None

    def require_in_range(self, offset: int) -> None:
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {offset} is not in {self.partition}, which has "
                f"{self.log_start_offset} to {self.log_end_offset}",
            )

    def aborted_transactions(
        self, *, fetch_offset: int, upper_bound_offset: int, records: FileSlice | None = None
    ) -> list[AbortedTransaction]:
        """The aborted transactions that a read_committed consumer has to skip in these offsets.
        With `records`, only those that overlap the bytes read."""
        found: list[AbortedTransaction] = []
        bound = None if records is not None else upper_bound_offset
        for segment in self.segments.starting_with(fetch_offset):
            if not segment.transaction_index.entry_count:
                continue
            if bound is None:
                assert records is not None
                bound = min(upper_bound_offset, self._end_of(records, fetch_offset))
            collected = segment.transaction_index.collect(
                fetch_offset=fetch_offset, upper_bound_offset=bound
            )
            found += collected.transactions
            if collected.is_complete:
                break
        return found

    def _end_of(self, records: FileSlice, offset: int) -> int:
        """An upper bound of the offsets in the bytes read, found without reading them."""
        for segment in self.segments.starting_with(offset):
            if segment.log_file is records.file:
                start = OffsetPosition(offset, records.position)
                bound = segment.offset_index.upper_bound(start, size=records.size)
                if bound is not None:
                    return bound.offset
                return self.segments.end_offset(segment, self.log_end_offset)
        return self.log_end_offset

    @property
    def last_stable_offset(self) -> int:
        """The end of what read_committed consumers may see: no transaction is open below it."""
        unstable = self.producers.state.first_unstable_offset
        if unstable is None:
            return self.high_watermark
        return min(max(unstable, self.log_start_offset), self.high_watermark)

    def advance_high_watermark(self, offset: int) -> None:
        """Raises the high watermark up to the log end offset; never lowers it."""
        if offset > self.high_watermark:
            end = self.log_end_offset
            self.high_watermark = offset = offset if offset < end else end
            if self._unstable.unreplicated:
                self._unstable.forget_below(offset)
