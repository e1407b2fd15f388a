"""`backup.json`: what a backup contains. It is written last: without it, a directory is no backup.

    {"format": 1, "cluster_id": "...", "finished_ms": 1763000000000,
     "snapshot": {"name": "00000000000000000074-0000000001.checkpoint", "size": 4096, "crc": 7},
     "partitions": [{"topic": "orders", "partition": 0, "topic_id": "...", "directory": "orders-0",
                     "log_start_offset": 0, "log_end_offset": 1000, "leader_epoch": 3,
                     "files": [{"name": "00000000000000000000.log", "size": 9000, "crc": 8}],
                     "opened": [[producer id, epoch, first offset]],
                     "erased": [[producer id, first offset, last offset]]}]}

`opened` has the open transactions at the end of the copied files, for the next run into the same
directory. `erased` is what a restore leaves out (see `settling`). Checksums are CRC-32C.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from crc32c import crc32c

from ottla.cli.backup.settling import Erasure, OpenedTransaction
from ottla.cli.exit_codes import CommandError
from ottla.model import TopicPartition, Uuid, uuid_from_text, uuid_to_text
from ottla.runtime.disk import Disk
from ottla.storage.files.durable_file import read_file, replace_file

FILE_NAME: Final = "backup.json"
METADATA_DIRECTORY: Final = "__cluster_metadata-0"
_FORMAT: Final = 1
_READ_BYTES: Final = 1 << 20


class SavedFile(NamedTuple):
    name: str
    size: int
    crc: int


class SavedPartition(NamedTuple):
    topic_id: Uuid
    directory: str
    log_start_offset: int
    log_end_offset: int
    # Of the last batch.
    leader_epoch: int
    files: tuple[SavedFile, ...]
    opened: tuple[OpenedTransaction, ...]
    erased: tuple[Erasure, ...]


class BackupManifest(NamedTuple):
    cluster_id: str
    finished_ms: int
    snapshot: SavedFile
    partitions: Mapping[TopicPartition, SavedPartition]

    @property
    def size(self) -> int:
        return sum(file.size for each in self.partitions.values() for file in each.files)


def read_manifest(disk: Disk, directory: str) -> BackupManifest | None:
    """None if the directory is no finished backup. Raises `CommandError` for other content."""
    path = f"{directory}/{FILE_NAME}"
    content = read_file(disk, path)
    if content is None:
        return None
    try:
        fields = json.loads(content)
        if fields["format"] != _FORMAT:
            raise CommandError(
                f"{path} has format {fields['format']}; this version of Ottla reads {_FORMAT}."
            )
        return BackupManifest(
            fields["cluster_id"],
            fields["finished_ms"],
            SavedFile(**fields["snapshot"]),
            {
                TopicPartition(each["topic"], each["partition"]): _partition(each)
                for each in fields["partitions"]
            },
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{path} is not a description of a backup: {error}.") from None


def require_manifest(disk: Disk, directory: str) -> BackupManifest:
    manifest = read_manifest(disk, directory)
    if manifest is None:
        raise CommandError(
            f"{directory} is not a finished backup: it has no {FILE_NAME}.",
            "Run `ottla backup --to DIR` until it ends without an error.",
        )
    return manifest


def write_manifest(disk: Disk, directory: str, manifest: BackupManifest) -> None:
    """Replaces the file atomically and durably."""
    fields = {
        "format": _FORMAT,
        "cluster_id": manifest.cluster_id,
        "finished_ms": manifest.finished_ms,
        "snapshot": manifest.snapshot._asdict(),
        "partitions": [
            {"topic": name.topic, "partition": name.partition, **_fields(each)}
            for name, each in sorted(manifest.partitions.items())
        ],
    }
    replace_file(disk, f"{directory}/{FILE_NAME}", json.dumps(fields, indent=1).encode())


def damaged_files(disk: Disk, directory: str, manifest: BackupManifest) -> list[str]:
    """The files that are missing or have other bytes than the manifest says, with the reasons."""
    files = [(f"{directory}/{METADATA_DIRECTORY}", manifest.snapshot)]
    for each in manifest.partitions.values():
        files += [(f"{directory}/{each.directory}", file) for file in each.files]
    return [
        f"{path}/{file.name}: {reason}"
        for path, file in files
        if (reason := _damage(disk, f"{path}/{file.name}", file)) is not None
    ]


def _damage(disk: Disk, path: str, saved: SavedFile) -> str | None:
    if not disk.exists(path):
        return "it is missing"
    file = disk.open_readonly(path)
    try:
        crc = position = 0
        # A later, unfinished run never changes these bytes.
        while position < saved.size:
            chunk = file.read_at(position, min(_READ_BYTES, saved.size - position))
            if not chunk:
                return f"it has {position} bytes instead of {saved.size}"
            crc = crc32c(chunk, crc)
            position += len(chunk)
    finally:
        file.close()
    return None if crc == saved.crc else "its checksum is wrong"


def _partition(fields: Mapping[str, Any]) -> SavedPartition:
    return SavedPartition(
        uuid_from_text(fields["topic_id"]),
        fields["directory"],
        fields["log_start_offset"],
        fields["log_end_offset"],
        fields["leader_epoch"],
        tuple(SavedFile(**each) for each in fields["files"]),
        tuple(OpenedTransaction(*each) for each in fields["opened"]),
        tuple(Erasure(*each) for each in fields["erased"]),
    )


def _fields(partition: SavedPartition) -> dict[str, Any]:
    fields = partition._asdict()
    return fields | {
        "topic_id": uuid_to_text(partition.topic_id),
        "files": [each._asdict() for each in partition.files],
    }
