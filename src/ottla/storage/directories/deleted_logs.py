"""The logs of deleted topics that may be restored.

    live ──kept──▶ aside, closed ──restored──▶ live, possibly under another name
                       └──purged

Their directories have Kafka's name for directories that are being deleted, with the topic id as the
unique id: `orders-0.<topic id>-delete`. Apache Kafka removes them when it starts. The offsets that
the checkpoints had are in a file in the directory. It is written before the directory is renamed,
and removed after the checkpoints have them again. If it cannot be written, for example because the
disk is full, the log is recovered from its beginning.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ottla.model import TopicPartition, Uuid
from ottla.runtime.disk import Disk
from ottla.storage.directories.log_offsets import LogOffsets
from ottla.storage.directories.other_logs import set_other_log_aside
from ottla.storage.files.durable_file import read_file
from ottla.storage.files.file_names import (
    OFFSET_MAX,
    DirectoryState,
    PartitionDirectoryName,
)
from ottla.storage.files.rewriting import sync_file
from ottla.storage.log.flush import TOGETHER_MIN
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log.recovery_points import RecoveryPointKeeper
from ottla.storage.log_config import LogConfig

_log = logging.getLogger(__name__)

FILE_NAME: Final = "deleted-offsets"

_CONTENT: Final = re.compile(
    rb"version: 0\n"
    rb"recovery_point: (?P<point>[0-9]{1,19})\n"
    rb"log_start_offset: (?P<start>[0-9]{1,19})\n"
    rb"high_watermark: (?P<mark>[0-9]{1,19})\n"
    rb"compacted_up_to: (?P<compacted>[0-9]{1,19})\n"
)


class ReplicaId(NamedTuple):
    topic_id: Uuid
    partition: int


class DeletedLog(NamedTuple):
    """A directory that is aside. The topic's name in it may be truncated."""

    replica: ReplicaId
    name: PartitionDirectoryName
    size: int


class KeptLog(NamedTuple):
    """A log that is about to be set aside."""

    topic_id: Uuid
    partition: TopicPartition
    offsets: LogOffsets
    compacted_up_to: int
    size: int


class LateRecoveryPoints:
    """The `RecoveryPointKeeper` of a log that no checkpoint contains yet."""

    def __init__(self) -> None:
        self.keeper: RecoveryPointKeeper | None = None

    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        if self.keeper is not None:
            self.keeper.lower(partition, recovery_point)


class RestoredLog(NamedTuple):
    log: Log
    high_watermark: int
    recovery_points: LateRecoveryPoints


class DeletedLogs:
    """Belongs to a log directory and its owner. What touches the disk may run on a worker; what
    changes `_aside` is called by the owner."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._aside: dict[ReplicaId, DeletedLog] = {}
        # How many purges are removing files. Changed by the owner.
        self.purges = 0

    def __iter__(self) -> Iterator[DeletedLog]:
        return iter(self._aside.values())

    def __len__(self) -> int:
        return len(self._aside)

    def get(self, topic_id: Uuid, partition: int) -> DeletedLog | None:
        return self._aside.get(ReplicaId(topic_id, partition))

    @property
    def size(self) -> int:
        return sum(each.size for each in self)

    def path_of(self, deleted: DeletedLog) -> str:
        return f"{self._path}/{deleted.name}"

    # ---- set aside

    def keep(self, logs: Collection[KeptLog]) -> list[DeletedLog]:
        """Renames the directories of closed logs, durably. Only touches the disk. If it raises,
        some may have been renamed; the next load finds all of them.

        Writes everything before it syncs anything: many are synced as a whole. Renames them also if
        their offsets cannot be written.
        """
        try:
            for each in logs:
                self._write(each)
            if len(logs) >= TOGETHER_MIN:
                self._disk.sync_directories([f"{self._path}/{each.partition}" for each in logs])
            else:
                for each in logs:
                    self._sync(each)
        except OSError as error:
            _log.warning(
                "cannot write the offsets of deleted logs in %s; if they are restored, they are"
                " recovered from their beginning: %s",
                self._path,
                error,
            )
        kept = [_deleted(each) for each in logs]
        for log, deleted in zip(logs, kept, strict=True):
            self._disk.rename(f"{self._path}/{log.partition}", self.path_of(deleted))
        self._disk.sync_directory(self._path)
        return kept

    def renamed(self, logs: Iterable[KeptLog]) -> list[DeletedLog]:
        """Those that have been renamed, although `keep` has raised."""
        return [each for each in map(_deleted, logs) if self._disk.exists(self.path_of(each))]

    def _write(self, kept: KeptLog) -> None:
        file = self._disk.open(f"{self._path}/{kept.partition}/{FILE_NAME}", create=True)
        try:
            file.truncate(0)  # An earlier attempt may have left another one.
            file.write_at(0, [_content(kept)])
        finally:
            file.close()

    def _sync(self, kept: KeptLog) -> None:
        directory = f"{self._path}/{kept.partition}"
        file = self._disk.open(f"{directory}/{FILE_NAME}")
        try:
            sync_file(file)
        finally:
            file.close()
        self._disk.sync_directory(directory)

    def add(self, logs: Iterable[DeletedLog]) -> None:
        self._aside.update({each.replica: each for each in logs})

    def found(self, name: PartitionDirectoryName) -> None:
        """Notes a directory that an earlier process has left."""
        assert name.unique_id is not None, f"{name} has no unique id"
        path = f"{self._path}/{name}"
        files = self._disk.list_directory(path)
        size = sum(self._disk.file_size(f"{path}/{file}") for file in files)
        replica = ReplicaId(name.unique_id, name.partition.partition)
        self._aside[replica] = DeletedLog(replica, name, size)

    def take(self, deleted: DeletedLog) -> None:
        """Removes it from the deleted logs: it is about to be restored or purged."""
        del self._aside[deleted.replica]

    # ---- restored

    def rename_back(self, logs: Mapping[TopicPartition, DeletedLog]) -> None:
        """Gives the directories the names of the partitions, durably. Only touches the disk."""
        for partition, deleted in logs.items():
            directory = f"{self._path}/{partition}"
            if self._disk.exists(directory):
                set_other_log_aside(self._disk, directory, deleted.replica.topic_id)
            self._disk.rename(self.path_of(deleted), directory)
        self._disk.sync_directory(self._path)

    def open(self, partition: TopicPartition, config: LogConfig, *, now_ms: int) -> RestoredLog:
        """Opens a log that has its name back. Only touches the disk. Raises `OSError`, or
        `StorageError` if the files contradict the offsets."""
        directory = f"{self._path}/{partition}"
        # Without the file, gaps in a compacted log must not look like the end of what is sound.
        unknown = LogOffsets(), OFFSET_MAX if config.compact else 0
        offsets, compacted_up_to = self._read(directory) or unknown
        recovery_points = LateRecoveryPoints()
        log = open_log(
            self._disk,
            directory,
            partition,
            config,
            recovery_points=recovery_points,
            now_ms=now_ms,
            log_start_offset=offsets.log_start_offset,
            recovery_point=offsets.recovery_point,
            compacted_up_to=compacted_up_to,
        )
        return RestoredLog(log, offsets.high_watermark, recovery_points)

    def complete(self, partitions: Iterable[TopicPartition]) -> None:
        """Called when the checkpoints contain the restored logs. Only touches the disk. A file that
        is back after a crash does no harm: the checkpoints come first."""
        for partition in partitions:
            path = f"{self._path}/{partition}/{FILE_NAME}"
            if self._disk.exists(path):
                self._disk.remove(path)

    def offsets_of(
        self, read: Mapping[TopicPartition, LogOffsets | None]
    ) -> dict[TopicPartition, LogOffsets]:
        """The offsets of live logs. Those that are in no checkpoint may have been restored just
        before a crash."""
        unknown = LogOffsets(), 0
        return {
            partition: (self._read(f"{self._path}/{partition}") or unknown)[0]
            if offsets is None
            else offsets
            for partition, offsets in read.items()
        }

    def _read(self, directory: str) -> tuple[LogOffsets, int] | None:
        """What the file has; None if it could not be written."""
        content = read_file(self._disk, f"{directory}/{FILE_NAME}")
        match = None if content is None else _CONTENT.fullmatch(content)
        if match is None:
            return None
        numbers = (int(match[name]) for name in ("point", "start", "mark"))
        return LogOffsets(*numbers), int(match["compacted"])


def _deleted(kept: KeptLog) -> DeletedLog:
    name = PartitionDirectoryName(kept.partition, DirectoryState.DELETE, kept.topic_id)
    return DeletedLog(ReplicaId(kept.topic_id, kept.partition.partition), name, kept.size)


def _content(kept: KeptLog) -> bytes:
    point, start, mark = kept.offsets
    return (
        f"version: 0\nrecovery_point: {point}\nlog_start_offset: {start}\n"
        f"high_watermark: {mark}\ncompacted_up_to: {kept.compacted_up_to}\n"
    ).encode()
