"""What a crash left half done in a partition's directory, finished or undone.

File names carry the state. A `.deleted` file was on its way out and goes. A `.cleaned` file is a
compaction that was not finished and goes. A `.swap` file is one that was: it replaces the segments
whose offsets it covers, which go, and takes its name (KAFKA-6264 tells why a `.swap` at or above a
`.cleaned` is not to be trusted). Each step can be repeated after a crash in its middle.

Which segments a `.swap` replaces is told by its last offset, because a compacted segment keeps its
last batch, empty if need be. Those of Kafka may lack it, and then the last segments that went into
one stay. That does no harm: segments are swapped in from the start of the log on, so whatever
superseded their records is still there, and the next compaction takes them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ottla.runtime.disk import Disk
from ottla.storage.files.file_names import OFFSET_MAX, FileKind, FileState, SegmentFileName
from ottla.storage.segments.batch_scan import scan_headers

# A transaction index is not with every segment, so only those of the first step can be missed.
_SWAP_STEPS: Final = (
    frozenset({FileKind.OFFSET_INDEX, FileKind.TIME_INDEX}),
    frozenset({FileKind.TRANSACTION_INDEX, FileKind.LOG}),
)


def finish_interrupted_work(disk: Disk, directory: str) -> list[SegmentFileName]:
    """Returns the files that there are when all of it is done."""
    found = segment_files(disk, directory)
    if all(name.state is FileState.LIVE for name in found):
        return found
    swaps = [name for name in found if name.state is FileState.SWAP]
    unwanted = [name for name in found if name.state in (FileState.DELETED, FileState.CLEANED)]
    lowest_cleaned = min(
        (name.base_offset for name in unwanted if name.state is FileState.CLEANED),
        default=OFFSET_MAX + 1,
    )
    # The `.cleaned` files go later: without them the others would be trusted after a crash.
    untrusted = [name for name in swaps if name.base_offset >= lowest_cleaned]
    remove_segment_files(disk, directory, untrusted)
    remove_segment_files(disk, directory, unwanted)
    trusted = [name for name in swaps if name.base_offset < lowest_cleaned]
    if trusted:
        live = [name for name in found if name.state is FileState.LIVE]
        remove_segment_files(disk, directory, _replaced_by(disk, directory, trusted, live))
        complete_swap(disk, directory, trusted)
    return segment_files(disk, directory)


def complete_swap(disk: Disk, directory: str, swaps: Sequence[SegmentFileName]) -> None:
    """Gives `.swap` files their live names, durably, when what they replace is durably gone.

    In two steps, so that a crash leaves no doubt whose a live file beside a `.swap` of the log is:
    as long as all of the first step's are `.swap`, it belongs to the old segment.
    """
    for kinds in _SWAP_STEPS:
        for name in swaps:
            if name.kind in kinds:
                live = name._replace(state=FileState.LIVE)
                disk.rename(f"{directory}/{name}", f"{directory}/{live}")
        disk.sync_directory(directory)


def segment_files(disk: Disk, directory: str) -> list[SegmentFileName]:
    """The names in a partition's directory that belong to its segments."""
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
    """The files of the segments that the swapped ones were made of, producer snapshots too:
    `ProducerHistory.forget_snapshots_between` tells why those must not outlive them."""
    replaced: list[SegmentFileName] = []
    for log in swaps:
        if log.kind is FileKind.LOG:
            kinds = {name.kind for name in swaps if name.base_offset == log.base_offset}
            # The segment of the same base offset may be the new one by now.
            start = log.base_offset if kinds >= _SWAP_STEPS[0] else log.base_offset + 1
            end = max(_end_offset(disk, directory, log), log.base_offset + 1)
            replaced += [name for name in live if start <= name.base_offset < end]
    return replaced


def _end_offset(disk: Disk, directory: str, log: SegmentFileName) -> int:
    """The offset after the last batch, read without an index: that one may be live already."""
    file = disk.open_readonly(f"{directory}/{log}")
    try:
        end = log.base_offset
        for _, header in scan_headers(file, 0, file.size()):
            end = header.next_offset
        return end
    finally:
        file.close()
