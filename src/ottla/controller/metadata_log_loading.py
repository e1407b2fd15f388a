"""Opening the metadata log: the latest snapshot that can be read, and the records after it."""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.controller.metadata_log import (
    METADATA_PARTITION,
    METADATA_TOPIC_ID,
    MetadataLog,
    MetadataLogConfig,
    RecoveryPoint,
)
from ottla.controller.quorum_state_file import read_quorum_state
from ottla.controller.snapshot_file import SnapshotId, read_snapshot
from ottla.controller.snapshots import Snapshots
from ottla.metadata import MetadataDelta, MetadataError, MetadataImage, Replay
from ottla.runtime.disk import Disk
from ottla.storage.durable_file import make_directories
from ottla.storage.errors import CorruptSnapshotError, StorageError
from ottla.storage.log import Log
from ottla.storage.log_config import NEVER_MS, UNLIMITED, LogConfig
from ottla.storage.log_loading import open_log
from ottla.storage.partition_metadata import read_partition_metadata, write_partition_metadata

_NO_LIMIT_BYTES: Final = 2**31 - 1


class LoadedMetadata(NamedTuple):
    """The log, and the image of everything that it and its snapshots say."""

    log: MetadataLog
    replay: Replay


def open_metadata_log(
    disk: Disk, directory: str, config: MetadataLogConfig, *, now_ms: int
) -> LoadedMetadata:
    """Opens the metadata log in a data directory, making it where there is none.

    Raises `StorageError` or `MetadataError` where files contradict each other, `OSError` where the
    disk fails.
    """
    path = f"{directory}/{METADATA_PARTITION}"
    make_directories(disk, path)
    if read_partition_metadata(disk, path) is None:
        write_partition_metadata(disk, path, METADATA_TOPIC_ID)
    snapshots = Snapshots(disk, path)
    recovery_point = RecoveryPoint(disk, path)
    # No shutdown counts as clean: what a crash left is cheap to check, and a loss is not cheap.
    log = open_log(
        disk,
        path,
        METADATA_PARTITION,
        _log_config(config),
        recovery_points=recovery_point,
        now_ms=now_ms,
        recovery_point=recovery_point.read(),
    )
    log.advance_high_watermark(log.recovery_point)
    metadata_log = MetadataLog(
        disk,
        path,
        config,
        log=log,
        snapshots=snapshots,
        recovery_point=recovery_point,
        epoch=_latest_epoch(disk, path, log, snapshots),
    )
    return LoadedMetadata(metadata_log, _load(disk, metadata_log, log, snapshots, now_ms))


def _log_config(config: MetadataLogConfig) -> LogConfig:
    """The log keeps everything until a snapshot replaces it."""
    return LogConfig(
        segment_bytes=config.log_segment_bytes,
        segment_ms=NEVER_MS,
        max_message_bytes=_NO_LIMIT_BYTES,
        message_timestamp_after_max_ms=NEVER_MS,
        retention_ms=UNLIMITED,
        retention_bytes=UNLIMITED,
        file_delete_delay_ms=0,
    )


def _latest_epoch(disk: Disk, path: str, log: Log, snapshots: Snapshots) -> int:
    state = read_quorum_state(disk, path)
    known = [snapshot.epoch for snapshot in snapshots.ids]
    if state is not None:
        known.append(state.leader_epoch)
    return max([*known, log.epochs.latest_epoch or 0])


def _load(
    disk: Disk, metadata_log: MetadataLog, log: Log, snapshots: Snapshots, now_ms: int
) -> Replay:
    unreadable: list[CorruptSnapshotError] = []
    for snapshot in reversed(snapshots.ids):
        if snapshot.end_offset < log.log_start_offset:
            break
        try:
            replay = _load_snapshot(disk, metadata_log, snapshots.path(snapshot))
        except CorruptSnapshotError as error:
            unreadable.append(error)
            continue
        _replay_log(metadata_log, log, snapshot, replay, now_ms)
        return replay
    if log.log_start_offset > 0:
        reasons = "; ".join(map(str, unreadable)) or "there is none"
        raise StorageError(
            f"{log} begins at offset {log.log_start_offset} and no snapshot up to there can be "
            f"read: {reasons}. Restore one from a copy of the directory."
        )
    replay = Replay(MetadataImage())
    _replay_log(metadata_log, log, SnapshotId(0, 0), replay, now_ms)
    return replay


def _load_snapshot(disk: Disk, metadata_log: MetadataLog, path: str) -> Replay:
    replay, delta = Replay(MetadataImage()), MetadataDelta()
    for batch in read_snapshot(disk, path):
        if batch.header.is_control:
            metadata_log.note_quorum_records(batch.records)
        else:
            replay.take(batch.records, delta)
    return replay


def _replay_log(
    metadata_log: MetadataLog, log: Log, snapshot: SnapshotId, replay: Replay, now_ms: int
) -> None:
    if log.log_end_offset < snapshot.end_offset:
        # The snapshot came from another node, or was synced before the log was, as Kafka does it.
        log.truncate_fully(snapshot.end_offset, now_ms=now_ms)
    delta = MetadataDelta()
    for batch in metadata_log.read_from(snapshot.end_offset):
        if batch.header.is_control:
            metadata_log.note_quorum_records(batch.records)
            continue
        try:
            replay.take(batch.records, delta)
        except MetadataError as error:
            offset = batch.header.base_offset
            raise MetadataError(f"{log}, in the batch at offset {offset}: {error}") from error
