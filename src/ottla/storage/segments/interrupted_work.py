"""Finishes or undoes the file operations that a crash interrupted in a partition's directory.

The file name carries the state. A `.deleted` file was being removed; it is removed. A `.cleaned`
file belongs to an unfinished compaction; it is removed. A `.swap` file belongs to a finished
compaction: the segments whose offsets it covers are removed, and it is renamed to its live name. A
`.swap` file at or above a `.cleaned` file is not trusted (KAFKA-6264). Every step can be repeated
after another crash.

The last offset of a `.swap` file says which segments it replaces, because a compacted segment keeps
its last batch, if only its header. Kafka's compacted segments may lack that batch; then the last
segments that were merged into one stay. That is harmless: segments are swapped in from the start of
the log on, so newer values of their records still exist, and the next compaction cleans them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ottla.runtime.disk import Disk
from ottla.storage.files.file_names import OFFSET_MAX, FileKind, FileState, SegmentFileName
from ottla.storage.segments.batch_scan import scan_headers

# Not every segment has a transaction index, so only the files of the first step are known to exist.
_SWAP_STEPS: Final = (
    frozenset({FileKind.OFFSET_INDEX, FileKind.TIME_INDEX}),
    frozenset({FileKind.TRANSACTION_INDEX, FileKind.LOG}),
)


def finish_interrupted_work(disk: Disk, directory: str) -> list[SegmentFileName]:
    """Returns the segment files that are left."""
    found = segment_files(disk, directory)
    if all(name.state is FileState.LIVE for name in found):
        return found
    swaps = [name for name in found if name.state is FileState.SWAP]
    obsolete = [name for name in found if name.state in (FileState.DELETED, FileState.CLEANED)]
    lowest_cleaned = min(
        (name.base_offset for name in obsolete if name.state is FileState.CLEANED),
        default=OFFSET_MAX + 1,
    )
    # These are removed before the `.cleaned` files: without those, a second crash would make them
    # look trusted.
    untrusted = [name for name in swaps if name.base_offset >= lowest_cleaned]
    remove_segment_files(disk, directory, untrusted)
    remove_segment_files(disk, directory, obsolete)
    trusted = [name for name in swaps if name.base_offset < lowest_cleaned]
    if trusted:
        live = [name for name in found if name.state is FileState.LIVE]
        remove_segment_files(disk, directory, _replaced_by(disk, directory, trusted, live))
        complete_swap(disk, directory, trusted)
    return segment_files(disk, directory)


def complete_swap(disk: Disk, directory: str, swaps: Sequence[SegmentFileName]) -> None:
    """Renames `.swap` files to their live names, durably. The files they replace must be durably
    gone.

    Two steps, so that after a crash it is certain whether a live file next to a `.swap` log is the
    old one or the new one: while all files of the first step are `.swap`, it is the old segment's.
    """
    for kinds in _SWAP_STEPS:
        for name in swaps:
            if name.kind in kinds:
                live = name._replace(state=FileState.LIVE)
                disk.rename(f"{directory}/{name}", f"{directory}/{live}")
        disk.sync_directory(directory)


def segment_files(disk: Disk, directory: str) -> list[SegmentFileName]:
    """The names in a partition's directory that are segment files."""
    parsed = map(SegmentFileName.parse, disk.list_directory(directory))
    return [name for name in parsed if name is not None]


def remove_segment_files(disk: Disk, directory: str, names: list[SegmentFileName]) -> None:
    """Removes files, durably."""
    for name in names:
        disk.remove(f"{directory}/{name}")
    if names:
        disk.sync_directory(directory)


def _replaced_by(
    disk: Disk, directory: str, swaps: list[SegmentFileName], live: list[SegmentFileName]
) -> list[SegmentFileName]:
    """The files of the segments that the `.swap` files replace, with their producer snapshots: see
    `ProducerHistory.forget_snapshots_between`."""
    replaced: list[SegmentFileName] = []
    for log in swaps:
        if log.kind is FileKind.LOG:
            kinds = {name.kind for name in swaps if name.base_offset == log.base_offset}
            # The live files of the same base offset may already be the new segment's.
            start = log.base_offset if kinds >= _SWAP_STEPS[0] else log.base_offset + 1
            end = max(_end_offset(disk, directory, log), log.base_offset + 1)
            replaced += [name for name in live if start <= name.base_offset < end]
    return replaced


def _end_offset(disk: Disk, directory: str, log: SegmentFileName) -> int:
    """The offset after the last batch, read without the index, which may already have its live
    name."""
    file = disk.open_readonly(f"{directory}/{log}")
    try:
        end = log.base_offset
        for _, header in scan_headers(file, 0, file.size()):
            end = header.next_offset
        return end
    finally:
        file.close()
