"""What is true of every log, whatever happened to it, checked by reading its files."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ottla.runtime.disk import Disk
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.files.file_names import FileKind, FileState
from ottla.storage.indexes.time_index import TimestampOffset
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.log.log import Log
from ottla.storage.producers.producer_entry import ProducerEntry
from ottla.storage.producers.producer_history import ProducerHistory
from ottla.storage.producers.producer_state import ProducerState
from ottla.storage.segments.interrupted_work import segment_files
from ottla.storage.segments.segment import Segment
from ottla.wire.records.batch import iterate_batches, verify_crc
from ottla.wire.records.header import BatchHeader, read_header
from tests.support.storage.logs import PARTITION

NEVER_MS = 2**62


class StoredBatch(NamedTuple):
    position: int
    header: BatchHeader
    data: bytes


def stored_batches(segment: Segment) -> list[StoredBatch]:
    """Every batch of a segment's file; fails if there is anything else in it."""
    data = segment.log_file.read_at(0, segment.log_file.size())
    assert len(data) == segment.size, "the file is not as long as the segment says"
    return list(_whole_batches(data))


# Most segments are the same when they are looked at again.
@lru_cache(maxsize=256)
def _whole_batches(data: bytes) -> tuple[StoredBatch, ...]:
    found = []
    for position, header in iterate_batches(data, strict=True):
        verify_crc(data, position, header)
        batch = data[position : position + header.size_in_bytes]
        found.append(StoredBatch(position, header, batch))
    return tuple(found)


def all_batches(log: Log) -> list[StoredBatch]:
    return [batch for segment in log.segments for batch in stored_batches(segment)]


def assert_sound(log: Log, *, gaps: bool = False, deleted_before: int = 0) -> None:
    """Whole batches without a hole, in order, with indexes and epochs that say what they hold.

    A crash may undo a move of the log's start, up to `deleted_before`, that epochs know of.
    """
    assert log.segments.first.base_offset <= log.log_start_offset <= log.log_end_offset
    assert log.log_start_offset <= log.high_watermark <= log.log_end_offset
    assert log.recovery_point <= log.log_end_offset
    offset = log.segments.first.base_offset
    for segment in log.segments:
        assert segment.base_offset == offset or (gaps and segment.base_offset > offset)
        batches = stored_batches(segment)
        for _, header, _ in batches:
            assert header.base_offset == offset or (gaps and header.base_offset > offset)
            offset = header.next_offset
        _assert_offset_index_agrees(segment, batches)
        _assert_time_index_agrees(segment, batches, is_complete=segment is not log.segments.active)
        segment.sanity_check()
        offset = max(offset, segment.base_offset)
    assert offset == log.log_end_offset
    epochs = list(log.epochs.entries)
    start = epochs[0].start_offset if epochs else log.log_end_offset
    start = max(log.log_start_offset, min(start, deleted_before))
    assert epochs == epochs_of(log, start=start), "epochs do not agree with the batches"


def _assert_offset_index_agrees(segment: Segment, batches: list[StoredBatch]) -> None:
    last_offsets = {position: header.last_offset for position, header, _ in batches}
    for offset, position in segment.offset_index.entries():
        assert last_offsets.get(position) == offset, f"index entry {offset}, {position}"
    for position, header, _ in batches:
        for offset in {header.base_offset, header.last_offset}:
            located = segment.locate(offset)
            assert located is not None
            assert located.position == position


def _assert_time_index_agrees(
    segment: Segment, batches: list[StoredBatch], *, is_complete: bool
) -> None:
    latest = TimestampOffset(-1, segment.base_offset)
    latest_at: dict[int, TimestampOffset] = {}
    for _, header, _ in batches:
        if header.max_timestamp > latest.timestamp:
            latest = TimestampOffset(header.max_timestamp, header.last_offset)
        latest_at[header.last_offset] = latest
    for entry in segment.time_index.entries():
        assert latest_at.get(entry.offset) == entry, f"time index entry {entry}"
    assert segment.max_timestamp == latest
    if is_complete:
        assert segment.time_index.last_entry == latest


def epochs_of(log: Log, *, start: int) -> list[tuple[int, int]]:
    """The epochs in a log's batches, from `start` on.

    A log that has lost all its batches to retention remembers the last epoch while it is open.
    """
    found: list[tuple[int, int]] = []
    for _, header, _ in all_batches(log):
        if header.last_offset >= start and (not found or found[-1][0] != header.leader_epoch):
            found.append((header.leader_epoch, max(header.base_offset, start)))
    if not found:
        return [entry for entry in log.epochs.entries if entry.start_offset == log.log_end_offset]
    return found


class Replay(NamedTuple):
    """What the batches of a log say of producers and transactions, replayed from scratch."""

    state: ProducerState
    aborted: dict[int, AbortedTransaction]


def replayed(batches: list[bytes]) -> Replay:
    disk = SimulatedDisk()
    history = ProducerHistory(disk, "/", PARTITION, producer_id_expiration_ms=NEVER_MS)
    aborted: dict[int, AbortedTransaction] = {}
    for batch in batches:
        header = read_header(batch)
        if header.has_producer_id:
            completed = history._update(batch, header)
            if completed is not None:
                history.state.complete(completed)
                if completed.is_aborted:
                    aborted[completed.last_offset] = AbortedTransaction(*completed[:4])
    return Replay(history.state, aborted)


def aborted_in(log: Log) -> dict[int, AbortedTransaction]:
    """The aborted transactions in a log's indexes, by the offsets of their markers."""
    return {
        entry.last_offset: entry
        for segment in log.segments
        for entry in segment.transaction_index.entries()
    }


def facts(entry: ProducerEntry) -> tuple[object, ...]:
    """What a snapshot keeps of a producer."""
    return (
        entry.producer_id,
        entry.producer_epoch,
        entry.coordinator_epoch,
        entry.current_txn_first_offset,
        entry.last_timestamp,
        entry.last_sequence,
        entry.last_data_offset,
        entry.last_offset_delta,
    )


def assert_producers_are(log: Log, *replays: Replay) -> None:
    """Each producer, and each aborted transaction, is as one of the replays has it.

    More than one where retention took the beginning of the log, that a snapshot may still contain.
    """
    entries = log.producers.state.entries
    for producer_id in set(entries).union(*(replay.state.entries for replay in replays)):
        entry = entries.get(producer_id)
        possible = [replay.state.entries.get(producer_id) for replay in replays]
        assert (entry and facts(entry)) in [known and facts(known) for known in possible]
    aborted = aborted_in(log)
    ends = {header.base_offset for _, header, _ in all_batches(log) if header.is_control}
    for last_offset in ends:
        assert aborted.get(last_offset) in [replay.aborted.get(last_offset) for replay in replays]
    assert set(aborted) <= ends, "the transaction index has an entry without a marker"


def directory_content(disk: Disk, directory: str) -> dict[str, bytes]:
    """Every file of a directory, by name."""
    found = {}
    for name in disk.list_directory(directory):
        file = disk.open_readonly(f"{directory}/{name}")
        found[name] = file.read_at(0, file.size())
        file.close()
    return found


def assert_only_files_of_segments(disk: Disk, log: Log) -> None:
    """Nothing is left in the directory that no segment needs."""
    bases = {segment.base_offset for segment in log.segments}
    for name in segment_files(disk, log.directory):
        if name.state is FileState.DELETED and len(log.retired):
            continue
        assert name.state is FileState.LIVE, f"{name} is left over"
        assert name.kind is FileKind.PRODUCER_SNAPSHOT or name.base_offset in bases
