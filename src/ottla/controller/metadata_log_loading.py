"""Opens the metadata log: the latest readable snapshot, and the records after it."""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.controller.committed_metadata import CommittedMetadata
from ottla.controller.metadata_log import (
    METADATA_PARTITION,
    METADATA_TOPIC_ID,
    MetadataLog,
    MetadataLogConfig,
    RecoveryPoint,
)
from ottla.controller.snapshot_file import read_snapshot
from ottla.controller.snapshots import Snapshots
from ottla.metadata import MetadataDelta, MetadataImage, MetadataReplay
from ottla.raft import ControlRecord
from ottla.runtime.disk import Disk
from ottla.storage.directories.partition_metadata import (
    read_partition_metadata,
    write_partition_metadata,
)
from ottla.storage.errors import CorruptSnapshotError, StorageError
from ottla.storage.files.durable_file import make_directories
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log_config import NEVER_MS, UNLIMITED, LogConfig

_NO_LIMIT_BYTES: Final = 2**31 - 1


class LoadedMetadata(NamedTuple):
    """The log, the image of its latest snapshot with the records appended after it, and the control
    records of both."""

    log: MetadataLog
    committed: CommittedMetadata
    control_records: list[ControlRecord]


def open_metadata_log(
    disk: Disk, directory: str, config: MetadataLogConfig, *, now_ms: int
) -> LoadedMetadata:
    """Opens the metadata log in a data directory, or creates it.

    Raises `StorageError` or `MetadataError` if files contradict each other, `OSError` if the disk
    fails.
    """
    path = f"{directory}/{METADATA_PARTITION}"
    make_directories(disk, path)
    if read_partition_metadata(disk, path) is None:
        write_partition_metadata(disk, path, METADATA_TOPIC_ID)
    snapshots = Snapshots(disk, path)
    recovery_point = RecoveryPoint(disk, path)
    # Always recovers as after a crash: checking the log is cheap, losing records is not.
    log = open_log(
        disk,
        path,
        METADATA_PARTITION,
        _log_config(config),
        recovery_points=recovery_point,
        now_ms=now_ms,
        recovery_point=recovery_point.read(),
    )
    # Records that were not flushed before a crash count as appended only once they are.
    log.flush()
    metadata_log = MetadataLog(
        disk, path, config, log=log, snapshots=snapshots, recovery_point=recovery_point
    )
    return _load(disk, metadata_log, log, snapshots, now_ms)


def _log_config(config: MetadataLogConfig) -> LogConfig:
    """The log keeps all records until a snapshot replaces them."""
    return LogConfig(
        segment_bytes=config.log_segment_bytes,
        segment_ms=NEVER_MS,
        max_message_bytes=_NO_LIMIT_BYTES,
        message_timestamp_after_max_ms=NEVER_MS,
        retention_ms=UNLIMITED,
        retention_bytes=UNLIMITED,
        file_delete_delay_ms=0,
    )


def _load(
    disk: Disk, metadata_log: MetadataLog, log: Log, snapshots: Snapshots, now_ms: int
) -> LoadedMetadata:
    unreadable: list[CorruptSnapshotError] = []
    for snapshot in reversed(snapshots.ids):
        if snapshot.end_offset < log.log_start_offset:
            break
        try:
            loaded = load_snapshot(disk, snapshots.path(snapshot), end_offset=snapshot.end_offset)
        except CorruptSnapshotError as error:
            unreadable.append(error)
            continue
        replayed = _replay_log(metadata_log, log, loaded, snapshot.end_offset, now_ms)
        # There is no checkpoint of the log start offset, so the log was opened from its first
        # segment. The epochs of the records before the earliest snapshot are gone: if the log still
        # started there, a fetch that diverges in them would not be detected.
        log.delete_records_before(snapshots.ids[0].end_offset)
        return replayed
    if log.log_start_offset > 0:
        reasons = "; ".join(map(str, unreadable)) or "there is none"
        raise StorageError(
            f"{log} begins at offset {log.log_start_offset}, but no snapshot up to that offset "
            f"can be read: {reasons}. Restore one from a copy of the directory."
        )
    nothing = LoadedSnapshot(MetadataReplay(MetadataImage()), [])
    return _replay_log(metadata_log, log, nothing, 0, now_ms)


class LoadedSnapshot(NamedTuple):
    replay: MetadataReplay
    control_records: list[ControlRecord]


def load_snapshot(disk: Disk, path: str, *, end_offset: int) -> LoadedSnapshot:
    """Raises `CorruptSnapshotError` for an incomplete or corrupt snapshot."""
    loaded, delta = LoadedSnapshot(MetadataReplay(MetadataImage()), []), MetadataDelta()
    for batch in read_snapshot(disk, path):
        if batch.header.is_control:
            # They count as records at the last offset that the snapshot contains.
            loaded.control_records.extend(
                ControlRecord(end_offset - 1, record) for record in batch.records
            )
        else:
            loaded.replay.take(batch.records, delta)
    return loaded


def _replay_log(
    metadata_log: MetadataLog, log: Log, snapshot: LoadedSnapshot, end_offset: int, now_ms: int
) -> LoadedMetadata:
    """Snapshots contain only committed records. Records after the snapshot may be uncommitted and
    are not applied to the image yet."""
    if log.log_end_offset < end_offset:
        # The snapshot came from another node, or was flushed before the log, as Kafka does.
        log.truncate_fully(end_offset, now_ms=now_ms)
    log.advance_high_watermark(end_offset)
    committed = CommittedMetadata(snapshot.replay, end_offset=end_offset)
    control_records = list(snapshot.control_records)
    for batch in metadata_log.read_from(end_offset):
        control_records += committed.batch_appended(batch)
    return LoadedMetadata(metadata_log, committed, control_records)
