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
from ottla.storage.batch_scan import scan_headers
from ottla.storage.file_names import OFFSET_MAX, FileKind, FileState, SegmentFileName

_SWAP_STEPS: Final = (
    (FileKind.OFFSET_INDEX, FileKind.TIME_INDEX),
    (FileKind.TRANSACTION_INDEX, FileKind.LOG),
)


def finish_interrupted_work(disk: Disk, directory: str) -> None:
    found = segment_files(disk, directory)
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
        remove_segment_files(disk, directory, _replaced_by(disk, directory, found, trusted))
        complete_swap(disk, directory, trusted)


def complete_swap(disk: Disk, directory: str, swaps: Sequence[SegmentFileName]) -> None:
    """Gives `.swap` files their live names, durably, in two steps.

    A crash may leave any of a step's renames done. As long as the log file is a `.swap`, live files
    beside it are taken for those of the old segment and go. An offset or time index that went is
    missed, and all indexes are built again; a transaction index on its own would not be missed, so
    it becomes live after those.
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
    disk: Disk, directory: str, found: list[SegmentFileName], swaps: list[SegmentFileName]
) -> list[SegmentFileName]:
    """The live files of the segments that the swapped ones were made of, producer snapshots too:
    ProducerHistory tells why those must not outlive them."""
    ranges = [
        range(name.base_offset, max(_end_offset(disk, directory, name), name.base_offset + 1))
        for name in swaps
        if name.kind is FileKind.LOG
    ]
    return [
        name
        for name in found
        if name.state is FileState.LIVE and any(name.base_offset in replaced for replaced in ranges)
    ]


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
