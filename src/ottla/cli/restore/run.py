"""Runs `ottla restore`.

    empty ──▶ logs ──▶ checkpoints ──▶ metadata ──▶ meta.properties: formatted

meta.properties is written last: a node does not start with directories that are only partly
restored.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ottla.cli.backup.manifest import (
    METADATA_DIRECTORY,
    BackupManifest,
    require_manifest,
)
from ottla.cli.display import cells
from ottla.cli.display.record_progress import RecordProgress
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.format.run import Formatting, chosen_voters, read_node_config
from ottla.cli.restore.restored_log import restore_log
from ottla.cli.restore.restored_metadata import restored_image
from ottla.configs import NodeConfig
from ottla.controller.formatting import format_node
from ottla.controller.metadata_log import METADATA_PARTITION
from ottla.controller.metadata_log_loading import load_snapshot
from ottla.controller.snapshot_file import (
    BOOTSTRAP_SNAPSHOT,
    Snapshot,
    SnapshotId,
    SnapshotVoters,
)
from ottla.metadata import MetadataImage
from ottla.metadata.features import KRAFT_VERSION_LEVEL
from ottla.model import NodeId, TopicPartition
from ottla.raft.voters import VoterSet
from ottla.runtime.dice import SystemDice
from ottla.runtime.disk import Disk
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.directories.clean_shutdown import write_clean_shutdown
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.errors import StorageError
from ottla.storage.files.durable_file import make_directories

_LOST_AND_FOUND: Final = "lost+found"


def run_restore(terminal: Terminal, source: Path, formatting: Formatting) -> None:
    if formatting.config is None:
        raise CommandError("--config FILE is missing.", exit_code=ExitCode.USAGE)
    node = read_node_config(formatting.config, is_worker=formatting.is_worker)
    disk = SystemDisk()
    manifest = require_manifest(disk, str(source))
    voters = chosen_voters(formatting, node, SystemDice())
    try:
        with RecordProgress(terminal.stderr, SystemClock(), title="restoring") as progress:
            restoring = Restoring(disk, str(source), manifest, node, progress)
            restoring.restore(
                voters, is_joining=formatting.no_initial_controllers or not node.is_controller
            )
    except (StorageError, OSError) as error:
        raise CommandError(f"Cannot restore: {error}") from None
    terminal.stdout.print(
        f"restored node {node.node_id} of cluster {manifest.cluster_id}: "
        f"{cells.count(restoring.restored_count, 'partition')}, "
        f"{cells.size(restoring.restored_bytes)}",
        markup=False,
        soft_wrap=True,
    )


class Restoring:
    """One run over the empty directories of a node."""

    def __init__(
        self,
        disk: Disk,
        source: str,
        manifest: BackupManifest,
        node: NodeConfig,
        progress: RecordProgress,
    ) -> None:
        self._disk = disk
        self._source = source
        self._manifest = manifest
        self._node = node
        self._progress = progress
        self.restored_count = 0
        self.restored_bytes = 0

    def restore(self, voters: VoterSet, *, is_joining: bool) -> None:
        node, disk = self._node, self._disk
        for path in dict.fromkeys([node.metadata_log_dir, *node.log_dirs]):
            _require_empty(disk, path)
        image = restored_image(self._read_image())
        self._refuse_other_node(image)
        self._restore_logs(image)
        self._prove_complete(image)
        if not is_joining:
            self._write_snapshot(image, voters)
        format_node(
            disk,
            node.log_dirs,
            metadata_path=node.metadata_log_dir,
            cluster_id=self._manifest.cluster_id,
            node_id=NodeId(node.node_id),
            voters=voters,
            dice=SystemDice(),
            now_ms=self._manifest.finished_ms,
        )
        if voters.voters:
            # The restored snapshot has the voters too, and is not the start of an empty log.
            path = f"{node.metadata_log_dir}/{METADATA_PARTITION}/{BOOTSTRAP_SNAPSHOT.file_name}"
            disk.remove(path)

    def _read_image(self) -> MetadataImage:
        name = self._manifest.snapshot.name
        snapshot_id = SnapshotId.parse(name)
        if snapshot_id is None:
            raise CommandError(f"{name} is not the name of a snapshot.")
        path = f"{self._source}/{METADATA_DIRECTORY}/{name}"
        return load_snapshot(self._disk, path, end_offset=snapshot_id.end_offset).replay.image

    def _refuse_other_node(self, image: MetadataImage) -> None:
        """A node id without replicas is most likely a mistake: their partitions would be lost."""
        ids = {
            replica
            for topic in image.topics
            for partition in topic.partitions.values()
            for replica in partition.replicas
        }
        if self._node.is_broker and ids and self._node.node_id not in ids:
            raise CommandError(
                f"The backup has no replicas of node {self._node.node_id}; it has those of the "
                f"nodes {', '.join(map(str, sorted(ids)))}.",
                "Restore with the node ids of the old cluster. Format a new node with `ottla "
                "format` instead.",
            )

    def _restore_logs(self, image: MetadataImage) -> None:
        placed: dict[str, list[TopicPartition]] = {path: [] for path in self._node.log_dirs}
        for name, saved in sorted(self._manifest.partitions.items()):
            topic = image.topics.by_id.get(saved.topic_id)
            registration = None if topic is None else topic.partitions.get(name.partition)
            if registration is None or self._node.node_id not in registration.replicas:
                continue
            path = min(placed, key=lambda each: len(placed[each]))
            restore_log(self._disk, f"{self._source}/{saved.directory}", f"{path}/{name}", saved)
            placed[path].append(name)
            self.restored_count += 1
            self.restored_bytes += sum(file.size for file in saved.files)
            self._progress.update(
                records=0, size_in_bytes=self.restored_bytes, done=self.restored_count
            )
        self._write_checkpoints(placed)

    def _prove_complete(self, image: MetadataImage) -> None:
        """As after a clean shutdown: the replicas here have all records. Their indexes are missing,
        so the logs are recovered all the same."""
        broker = image.brokers.get(self._node.node_id)
        if broker is not None:
            for path in self._node.log_dirs:
                write_clean_shutdown(self._disk, path, broker_epoch=broker.epoch)

    def _write_checkpoints(self, placed: Mapping[str, list[TopicPartition]]) -> None:
        """Log start offsets, and high watermarks: every restored record was committed."""
        for path, names in placed.items():
            make_directories(self._disk, path)
            partitions = {name: self._manifest.partitions[name] for name in names}
            starts = {name: each.log_start_offset for name, each in partitions.items()}
            ends = {name: each.log_end_offset for name, each in partitions.items()}
            for kind, offsets in (
                (OffsetCheckpointName.LOG_START_OFFSET, starts),
                (OffsetCheckpointName.REPLICATION_OFFSET, ends),
            ):
                found = {name: offset for name, offset in offsets.items() if offset}
                OffsetCheckpoint(self._disk, path, kind).write(found)

    def _write_snapshot(self, image: MetadataImage, voters: VoterSet) -> None:
        """The same bytes on every controller."""
        directory = f"{self._node.metadata_log_dir}/{METADATA_PARTITION}"
        make_directories(self._disk, directory)
        snapshot_id = SnapshotId.parse(self._manifest.snapshot.name)
        assert snapshot_id is not None
        Snapshot(
            disk=self._disk,
            path=f"{directory}/{snapshot_id.file_name}",
            id=snapshot_id,
            records=image,
            metadata_version=image.metadata_version,
            voters=SnapshotVoters(KRAFT_VERSION_LEVEL, voters.to_record())
            if voters.voters
            else None,
            last_contained_log_timestamp=self._manifest.finished_ms,
            now_ms=self._manifest.finished_ms,
        ).write()


def _require_empty(disk: Disk, path: str) -> None:
    if not disk.exists(path):
        return
    if any(
        not (name.startswith(".") or name == _LOST_AND_FOUND) for name in disk.list_directory(path)
    ):
        raise CommandError(
            f"{path} is not empty.",
            "A node is restored into empty directories: empty them, which deletes their data, or "
            "name others in log.dirs.",
        )
