"""Opens a partition's log and recovers it after a crash.

After a clean shutdown this reads file names, one producer snapshot and the last few batches. After
a crash it recovers every segment from the recovery point on (recovery.py).
"""

from __future__ import annotations

from ottla.model import TopicPartition
from ottla.runtime.disk import Disk
from ottla.storage.epochs.epoch_loading import load_epochs
from ottla.storage.errors import CorruptIndexError
from ottla.storage.files.file_names import FileKind, SegmentFileName
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Recovery
from ottla.storage.log.recovery_points import RecoveryPointKeeper
from ottla.storage.log_config import LogConfig
from ottla.storage.producers.producer_history import ProducerHistory
from ottla.storage.segments.interrupted_work import finish_interrupted_work
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segments import Segments

_INDEXES = frozenset({FileKind.OFFSET_INDEX, FileKind.TIME_INDEX})


def open_log(
    disk: Disk,
    directory: str,
    partition: TopicPartition,
    config: LogConfig,
    *,
    recovery_points: RecoveryPointKeeper,
    now_ms: int,
    log_start_offset: int = 0,
    recovery_point: int = 0,
    compacted_up_to: int = 0,
    had_clean_shutdown: bool = False,
) -> Log:
    """Opens the log in `directory`, or creates it.

    The offsets are those of the directory's checkpoints. Raises `StorageError` if the files
    contradict the recovery point, `OSError` if the disk fails.
    """
    log = load_log(
        disk,
        directory,
        partition,
        config,
        recovery_points=recovery_points,
        now_ms=now_ms,
        log_start_offset=log_start_offset,
        recovery_point=recovery_point,
        compacted_up_to=compacted_up_to,
        had_clean_shutdown=had_clean_shutdown,
    )
    log.flush()
    return log


def load_log(
    disk: Disk,
    directory: str,
    partition: TopicPartition,
    config: LogConfig,
    *,
    recovery_points: RecoveryPointKeeper,
    now_ms: int,
    log_start_offset: int,
    recovery_point: int,
    compacted_up_to: int,
    had_clean_shutdown: bool,
) -> Log:
    """As `open_log`, without the final flush, for callers that open many logs.

    The log has to be flushed before it is used: rebuilt state has to be durable before the recovery
    point covers it.
    """
    files = finish_interrupted_work(disk, directory)
    segments, unindexed = _find_segments(
        disk, directory, config, now_ms, files=files, are_synced=had_clean_shutdown
    )
    if not len(segments):
        segments.add(_first_segment(disk, directory, log_start_offset, config, now_ms))
    epochs = load_epochs(disk, directory, segments)
    producers = ProducerHistory(
        disk,
        directory,
        partition,
        producer_id_expiration_ms=config.producer_id_expiration_ms,
        files=files,
    )
    is_empty = not unindexed and _is_empty(disk, segments.active, files)
    # An empty log has no torn batch, and nothing to sync before the first append.
    is_blank = is_empty and len(segments) == 1 and recovery_point <= segments.first.base_offset
    is_sane = not unindexed and (is_empty or _is_sane(segments.active))
    if is_sane and (had_clean_shutdown or is_blank):
        if not had_clean_shutdown:
            segments.active.doubt_name()
        recovered_from = log_end_offset = segments.active.next_offset()
        producers.load_up_to(log_end_offset, segments, now_ms=now_ms)
    else:
        start = min([recovery_point, *(segment.base_offset for segment in unindexed)])
        if start < recovery_point:
            # After a crash during the rebuild, a half-built index must not be trusted.
            recovery_points.lower(partition, start)
        recovery = Recovery(
            disk, directory, segments, producers, epochs, recovery_point, compacted_up_to
        )
        recovered_from, log_end_offset = recovery.run(start, now_ms=now_ms)
    producers.forget_strays(segments)
    log_start_offset = max(log_start_offset, segments.first.base_offset)
    # The order matters: reversed, an epoch without records would stay now and go at the next open.
    epochs.truncate_from_start(log_start_offset)
    epochs.truncate_from_end(log_end_offset)
    log = Log(
        disk,
        directory,
        partition,
        config,
        segments=segments,
        producers=producers,
        epochs=epochs,
        recovery_points=recovery_points,
        log_start_offset=min(log_start_offset, log_end_offset),
        log_end_offset=log_end_offset,
        recovery_point=log_end_offset,
    )
    if log_end_offset < log_start_offset:
        # The crash lost records that DeleteRecords had already passed. What is left below the log
        # start offset must not come back.
        log.truncate_fully(log_start_offset, now_ms=now_ms)
    log.recovery_point = min(log.recovery_point, recovered_from)
    return log


def blank_log(
    disk: Disk,
    directory: str,
    partition: TopicPartition,
    config: LogConfig,
    *,
    recovery_points: RecoveryPointKeeper,
    now_ms: int,
) -> Log | None:
    """Returns the log over files that were just created and synced, or None if they hold data.

    Needs only two calls to the disk, because thousands of logs may be created at once.
    """
    segment = Segment.open(disk, directory, 0, config, created_ms=now_ms, is_synced=True)
    segments = Segments([segment])
    epochs = load_epochs(disk, directory, segments)
    if segment.size or epochs.entries:
        return None
    expiration_ms = config.producer_id_expiration_ms
    producers = ProducerHistory(
        disk, directory, partition, producer_id_expiration_ms=expiration_ms, files=[]
    )
    producers.load_up_to(0, segments, now_ms=now_ms)
    return Log(
        disk,
        directory,
        partition,
        config,
        segments=segments,
        producers=producers,
        epochs=epochs,
        recovery_points=recovery_points,
        log_start_offset=0,
        log_end_offset=0,
        recovery_point=0,
    )


def _find_segments(
    disk: Disk,
    directory: str,
    config: LogConfig,
    now_ms: int,
    *,
    files: list[SegmentFileName],
    are_synced: bool,
) -> tuple[Segments, list[Segment]]:
    """Returns the segments, and those of them that lack an index. Removes indexes without a log
    file."""
    bases = {name.base_offset for name in files if name.kind is FileKind.LOG}
    indexed: dict[int, set[FileKind]] = {base: set() for base in bases}
    for name in files:
        if name.base_offset in bases:
            indexed[name.base_offset].add(name.kind)
        elif name.kind is not FileKind.PRODUCER_SNAPSHOT:
            disk.remove(f"{directory}/{name}")
    segments = Segments(
        Segment.open(disk, directory, base, config, created_ms=now_ms, is_synced=are_synced)
        for base in bases
    )
    unindexed = [segment for segment in segments if not indexed[segment.base_offset] >= _INDEXES]
    return segments, unindexed


def _first_segment(
    disk: Disk, directory: str, base_offset: int, config: LogConfig, now_ms: int
) -> Segment:
    segment = Segment.create(disk, directory, base_offset, config, created_ms=now_ms)
    segment.sync()
    return segment


def _is_empty(disk: Disk, segment: Segment, files: list[SegmentFileName]) -> bool:
    """Whether the log file and its indexes are empty. Opens none of them: on a node with thousands
    of partitions, most are empty."""
    if segment.size or any(name.kind is FileKind.TRANSACTION_INDEX for name in files):
        return False
    return not any(disk.file_size(segment.path(kind)) for kind in _INDEXES)


def _is_sane(segment: Segment) -> bool:
    try:
        segment.sanity_check()
    except CorruptIndexError:
        return False
    return True
