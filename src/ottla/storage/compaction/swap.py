"""Replaces old segments with cleaned ones: quick, and on the thread of the log's owner.

Groups are swapped from the start of the log on, so that no crash brings back a value whose
tombstone was removed with a later group. For each group, with a directory sync after every step:

    1. the producer snapshots go, .cleaned -> .swap
    2. old segments -> .deleted
    3. offset and time index .swap -> live
    4. transaction index and log .swap -> live

Until the first sync the old segments are the log; after it, the new one is. After a crash
interrupted_work.py undoes or finishes the swap.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ottla.storage.compaction.result import CleanedGroup, CompactionResult
from ottla.storage.compaction.two_passes import remove_cleaned
from ottla.storage.files.file_names import FileKind, FileState, SegmentFileName
from ottla.storage.log.log import Log
from ottla.storage.segments.interrupted_work import complete_swap, segment_files
from ottla.storage.segments.segment import Segment


def swap_in(log: Log, result: CompactionResult, *, now_ms: int) -> bool:
    """Swaps in all groups. Returns False if the log has changed since the plan was made: then the
    cleaned segments that are left are removed, and the first dirty offset must not advance."""
    return len(list(swap_groups(log, result, now_ms=now_ms))) == len(result.groups)


def swap_groups(log: Log, result: CompactionResult, *, now_ms: int) -> Iterator[CleanedGroup]:
    """As `swap_in`, one group at a time with four directory syncs each, so that the owner can do
    other work in between. Stops early if the log has changed.

    After an `OSError` the log must be closed and opened again before it is used.
    """
    for group in result.groups:
        replaced = _find_replaced(log, result, group)
        if replaced is None:
            # The topic, and with it the directory, may have been deleted.
            with suppress(FileNotFoundError):
                remove_cleaned(log.disk, log.directory)
            return
        _replace(log, group, replaced, now_ms)
        yield group


def _find_replaced(log: Log, result: CompactionResult, group: CleanedGroup) -> list[Segment] | None:
    """The segments that the group was made of, or None if they have changed. The directory of an
    abandoned log may belong to another one by now."""
    cleaned = SegmentFileName(group.base_offset, FileKind.LOG, FileState.CLEANED)
    found = log.segments.between(group.base_offset, group.end_offset)
    is_same = (
        not log.is_abandoned
        and log.truncations == result.plan.truncations
        and log.segments.active not in found
        and [(segment.base_offset, segment.size) for segment in found]
        == [(planned.base_offset, planned.size) for planned in group.replaced]
        and log.disk.exists(f"{log.directory}/{cleaned}")
    )
    return found if is_same else None


def _replace(log: Log, group: CleanedGroup, replaced: list[Segment], now_ms: int) -> None:
    disk, directory, config = log.disk, log.directory, log.config
    log.producers.forget_snapshots_between(group.base_offset, group.end_offset)
    swaps = _rename_to_swap(log, group)
    log.retired.add_replaced(replaced, now_ms=now_ms, delay_ms=config.file_delete_delay_ms)
    complete_swap(disk, directory, swaps)
    created_ms = replaced[-1].created_ms
    cleaned = Segment.open(disk, directory, group.base_offset, config, created_ms=created_ms)
    assert cleaned.size == group.size, f"{cleaned.path(FileKind.LOG)} has changed since compaction"
    for segment in replaced:
        log.segments.remove(segment)
    log.segments.add(cleaned)


def _rename_to_swap(log: Log, group: CleanedGroup) -> list[SegmentFileName]:
    """Renames the group's files durably and returns their new names."""
    disk, directory = log.disk, log.directory
    cleaned = [
        name
        for name in segment_files(disk, directory)
        if name.state is FileState.CLEANED and name.base_offset == group.base_offset
    ]
    swaps = [name._replace(state=FileState.SWAP) for name in cleaned]
    for old, new in zip(cleaned, swaps, strict=True):
        disk.rename(f"{directory}/{old}", f"{directory}/{new}")
    disk.sync_directory(directory)
    return swaps
