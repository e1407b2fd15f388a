"""What a crash left half done in a partition's directory, finished or undone.

File names carry the state. A `.deleted` file was on its way out and goes. A `.cleaned` file is a
compaction that was not finished and goes. A `.swap` file is one that was: it replaces the segments
whose offsets it covers, which go, and takes its name (KAFKA-6264 tells why a `.swap` at or above a
`.cleaned` is not to be trusted). Each step can be repeated after a crash in its middle.
"""

from __future__ import annotations

from ottla.runtime.disk import Disk
from ottla.storage.file_names import FileKind, FileState, SegmentFileName
from ottla.storage.log_config import LogConfig
from ottla.storage.segment import SEGMENT_FILE_KINDS, Segment


def finish_interrupted_work(disk: Disk, directory: str, config: LogConfig) -> None:
    found = segment_files(disk, directory)
    doomed = [name for name in found if name.state in (FileState.DELETED, FileState.CLEANED)]
    lowest_cleaned = min(
        (name.base_offset for name in found if name.state is FileState.CLEANED), default=None
    )
    swaps = [name for name in found if name.state is FileState.SWAP]
    if lowest_cleaned is not None:
        doomed += [name for name in swaps if name.base_offset >= lowest_cleaned]
        swaps = [name for name in swaps if name.base_offset < lowest_cleaned]
    _remove(disk, directory, doomed)
    if swaps:
        _remove(disk, directory, _replaced_by(disk, directory, config, found, swaps))
        # The log file goes last: with it the swap is complete.
        for name in sorted(swaps, key=lambda name: name.kind is FileKind.LOG):
            disk.rename(f"{directory}/{name}", f"{directory}/{name._replace(state=FileState.LIVE)}")
        disk.sync_directory(directory)


def segment_files(disk: Disk, directory: str) -> list[SegmentFileName]:
    """The names in a partition's directory that belong to its segments."""
    parsed = map(SegmentFileName.parse, disk.list_directory(directory))
    return [name for name in parsed if name is not None]


def _replaced_by(
    disk: Disk,
    directory: str,
    config: LogConfig,
    found: list[SegmentFileName],
    swaps: list[SegmentFileName],
) -> list[SegmentFileName]:
    """The live files of the segments that the swapped ones were made of."""
    ranges = []
    for name in swaps:
        if name.kind is FileKind.LOG:
            segment = Segment.open(
                disk, directory, name.base_offset, config, created_ms=0, state=FileState.SWAP
            )
            ranges.append((name.base_offset, segment.next_offset()))
            segment.close()
    if not ranges:
        return []
    lowest, end = min(start for start, _ in ranges), max(end for _, end in ranges)
    return [
        name
        for name in found
        if name.state is FileState.LIVE
        and name.kind in SEGMENT_FILE_KINDS
        and lowest <= name.base_offset < end
    ]


def _remove(disk: Disk, directory: str, names: list[SegmentFileName]) -> None:
    for name in names:
        disk.remove(f"{directory}/{name}")
    if names:
        disk.sync_directory(directory)
