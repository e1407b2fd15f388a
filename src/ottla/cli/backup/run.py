"""Runs `ottla backup`.

A partition's copy continues the one of an earlier run into the same directory. Compacted topics are
always copied anew: compaction may have removed tombstones that an earlier copy lacks. A new copy
gets a new directory, so the earlier backup stays complete until the new one is; then the
directories that it no longer needs are removed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ottla.cli.backup.controller_nodes import ControllerNodes
from ottla.cli.backup.cut import TRANSACTIONS, Cut
from ottla.cli.backup.manifest import (
    FILE_NAME,
    METADATA_DIRECTORY,
    BackupManifest,
    SavedFile,
    SavedPartition,
    damaged_files,
    read_manifest,
    require_manifest,
    write_manifest,
)
from ottla.cli.backup.metadata_reader import MetadataReader
from ottla.cli.backup.partition_copier import PartitionCopier
from ottla.cli.backup.partition_copy import PartitionCopy
from ottla.cli.backup.saved_metadata import compacted_topics, save_metadata
from ottla.cli.backup.settling import Erasure
from ottla.cli.connection.admin_connection import doing
from ottla.cli.display import cells
from ottla.cli.display.record_progress import RecordProgress
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.admin import Admin
from ottla.client.cluster import ClientCluster
from ottla.client.settings.common import ClusterSettings
from ottla.metadata import MetadataImage
from ottla.model import TopicPartition, Uuid
from ottla.runtime.clock import Clock
from ottla.runtime.disk import Disk
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk

_LOCK: Final = "backup.lock"
_PARTIAL_SNAPSHOT: Final = "metadata.part"
_OWN_FILES: Final = frozenset({_LOCK, _PARTIAL_SNAPSHOT, FILE_NAME, f"{FILE_NAME}.tmp"})
_DIRECTORY: Final = re.compile(r".+-[0-9]+(\.[0-9]+)?")
_COPIED_FILE: Final = re.compile(r"[0-9]{20}\.log|partition\.metadata(\.tmp)?")
_BYTES_PER_MEGABYTE: Final = 1_000_000


def verify_backup(terminal: Terminal, directory: str) -> None:
    disk = SystemDisk()
    manifest = require_manifest(disk, directory)
    damaged = damaged_files(disk, directory, manifest)
    if damaged:
        raise CommandError(f"The backup in {directory} is damaged:", *damaged)
    _report(terminal, f"{directory} is intact", manifest)


async def run_backup(
    admin: Admin,
    terminal: Terminal,
    directory: str,
    *,
    brokers: ClusterSettings,
    controllers: ClusterSettings,
    megabytes_per_second: float | None,
) -> None:
    """`brokers` and `controllers` say how to connect to either."""
    cluster = ClientCluster(brokers)
    try:
        async with ControllerNodes(controllers) as nodes:
            await _run(admin, cluster, nodes, terminal, directory, megabytes_per_second)
    finally:
        await cluster.close()


async def _run(
    admin: Admin,
    cluster: ClientCluster,
    controllers: ControllerNodes,
    terminal: Terminal,
    directory: str,
    megabytes_per_second: float | None,
) -> None:
    disk, clock = SystemDisk(), SystemClock()
    _make_private_directory(directory)
    _refuse_other_files(disk, directory)
    try:
        lock = disk.lock(f"{directory}/{_LOCK}")
    except BlockingIOError:
        raise CommandError(f"Another backup into {directory} is running.") from None
    try:
        with RecordProgress(terminal.stderr, clock, title="copying") as progress:
            run = BackupRun(
                admin,
                cluster,
                controllers,
                clock,
                disk,
                directory,
                progress,
                bytes_per_second=None
                if megabytes_per_second is None
                else megabytes_per_second * _BYTES_PER_MEGABYTE,
            )
            manifest = await run.run()
    except OSError as error:
        raise CommandError(f"Cannot write to {directory}: {error}.") from None
    finally:
        lock.close()
    _report(terminal, f"backup in {directory}", manifest)


def _make_private_directory(directory: str) -> None:
    """Only its owner can read it: the metadata has credentials."""
    Path(directory).mkdir(mode=0o700, parents=True, exist_ok=True)


def _refuse_other_files(disk: Disk, directory: str) -> None:
    for name in disk.list_directory(directory):
        if name not in _OWN_FILES and not (
            _DIRECTORY.fullmatch(name) and disk.is_directory(f"{directory}/{name}")
        ):
            raise CommandError(
                f"{directory} has a file that is not a backup's: {name}.",
                "Name an empty directory, or one with an earlier backup of this cluster.",
            )


class BackupRun:
    """Owns the copies of all partitions during one run."""

    def __init__(
        self,
        admin: Admin,
        cluster: ClientCluster,
        controllers: ControllerNodes,
        clock: Clock,
        disk: Disk,
        root: str,
        progress: RecordProgress,
        *,
        bytes_per_second: float | None,
    ) -> None:
        self._admin = admin
        self._clock = clock
        self._disk = disk
        self._root = root
        self._progress = progress
        self._copied_bytes = 0
        self._copies: dict[TopicPartition, PartitionCopy] = {}
        self._compacted: set[str] = set()
        self._previous: BackupManifest | None = None
        self._metadata = MetadataReader(
            admin, controllers, clock, disk, f"{root}/{_PARTIAL_SNAPSHOT}"
        )
        self._copier = PartitionCopier(
            cluster,
            clock,
            self._copies,
            start_over=self._start_over,
            is_deleted=self._is_deleted,
            bytes_per_second=bytes_per_second,
            on_progress=self._advance,
        )
        self._cut = Cut(self._copies, self._copier, clock, self._find_partitions)

    async def run(self) -> BackupManifest:
        with doing("describe the cluster"):
            cluster_id = (await self._admin.describe_cluster()).cluster_id
        self._previous = read_manifest(self._disk, self._root)
        if self._previous is not None and self._previous.cluster_id != cluster_id:
            raise CommandError(
                f"{self._root} has a backup of the cluster {self._previous.cluster_id}, not of "
                f"{cluster_id}.",
                "Name another directory.",
            )
        await self._find_partitions()
        erased = await self._cut.copy()
        image = await self._metadata.read()
        partitions = self._save(image, erased)
        manifest = BackupManifest(
            cluster_id, self._clock.now_ms(), self._save_metadata(image), partitions
        )
        write_manifest(self._disk, self._root, manifest)
        self._remove_unused(manifest)
        return manifest

    async def _find_partitions(self) -> None:
        """Adds copies of the partitions that have none."""
        image = await self._metadata.read()
        new = [topic for topic in image.topics if self._lacks(topic.name, topic.id)]
        self._compacted |= await compacted_topics(self._admin, [topic.name for topic in new])
        for topic in image.topics:
            for index in topic.partitions:
                name = TopicPartition(topic.name, index)
                copy = self._copies.get(name)
                if copy is None or copy.topic_id != topic.id:
                    self._add(name, self._resumed(name, topic.id) or self._new(name, topic.id))

    def _lacks(self, topic: str, topic_id: Uuid) -> bool:
        copy = self._copies.get(TopicPartition(topic, 0))
        return copy is None or copy.topic_id != topic_id

    def _add(self, name: TopicPartition, copy: PartitionCopy) -> None:
        self._copies[name] = copy
        if name.topic == TRANSACTIONS:
            self._cut.follow(copy)

    def _resumed(self, name: TopicPartition, topic_id: Uuid) -> PartitionCopy | None:
        if name.topic in self._compacted:
            return None
        saved = None if self._previous is None else self._previous.partitions.get(name)
        directory = str(name) if saved is None else saved.directory
        copy = PartitionCopy(self._disk, self._root, directory, topic_id)
        return copy if copy.resume(saved) else None

    def _new(self, name: TopicPartition, topic_id: Uuid) -> PartitionCopy:
        """In a directory that does not exist yet."""
        directory, number = str(name), 1
        while self._disk.exists(f"{self._root}/{directory}"):
            number += 1
            directory = f"{name}.{number}"
        self._disk.make_directories(f"{self._root}/{directory}")
        return PartitionCopy(self._disk, self._root, directory, topic_id)

    def _start_over(self, name: TopicPartition, topic_id: Uuid) -> PartitionCopy:
        before = self._copies[name]
        copy = self._new(name, topic_id)
        copy.scan.keeps_ended = before.scan.keeps_ended
        self._add(name, copy)
        return copy

    async def _is_deleted(self, name: TopicPartition, topic_id: Uuid) -> bool:
        topic = (await self._metadata.read()).topics.by_name.get(name.topic)
        return topic is None or topic.id != topic_id

    def _advance(self, size: int) -> None:
        self._copied_bytes += size
        self._progress.update(records=0, size_in_bytes=self._copied_bytes)

    def _save(
        self, image: MetadataImage, erased: Mapping[TopicPartition, tuple[Erasure, ...]]
    ) -> dict[TopicPartition, SavedPartition]:
        """Makes the copies durable, without those of topics that are deleted by now."""
        found = {}
        for name, copy in self._copies.items():
            topic = image.topics.by_name.get(name.topic)
            if topic is not None and topic.id == copy.topic_id:
                copy.sync()
                found[name] = copy.saved(erased[name])
        return found

    def _save_metadata(self, image: MetadataImage) -> SavedFile:
        producer_id_max = max(
            (copy.scan.producer_id_max for copy in self._copies.values()), default=-1
        )
        image.next_producer_id = max(image.next_producer_id, producer_id_max + 1)
        return save_metadata(
            self._disk,
            f"{self._root}/{METADATA_DIRECTORY}",
            self._metadata.snapshot_id,
            image,
            now_ms=self._clock.now_ms(),
        )

    def _remove_unused(self, manifest: BackupManifest) -> None:
        """Removes what belongs to earlier runs only."""
        used = {each.directory for each in manifest.partitions.values()} | {METADATA_DIRECTORY}
        for name in self._disk.list_directory(self._root):
            path = f"{self._root}/{name}"
            if name in used or not self._disk.is_directory(path):
                continue
            files = self._disk.list_directory(path)
            if not all(map(_COPIED_FILE.fullmatch, files)):
                continue
            for file in files:
                self._disk.remove(f"{path}/{file}")
            self._disk.remove_directory(path)
        for file in self._disk.list_directory(f"{self._root}/{METADATA_DIRECTORY}"):
            if file != manifest.snapshot.name:
                self._disk.remove(f"{self._root}/{METADATA_DIRECTORY}/{file}")


def _report(terminal: Terminal, what: str, manifest: BackupManifest) -> None:
    partitions = cells.count(len(manifest.partitions), "partition")
    terminal.stdout.print(
        f"{what}: cluster {manifest.cluster_id}, {partitions}, {cells.size(manifest.size)}",
        markup=False,
        soft_wrap=True,
    )
