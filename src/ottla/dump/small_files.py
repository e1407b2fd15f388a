"""The small files of partition and log directories: snapshots, checkpoints and properties."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import basename

from ottla.configs.java_properties import parse_properties
from ottla.dump.files import KnownFile
from ottla.dump.plain import fields_to_plain
from ottla.dump.rows import PartitionOffset, Property, Row, producer_row
from ottla.model import uuid_to_text
from ottla.runtime.disk import Disk
from ottla.storage.directories.clean_shutdown import read_clean_shutdown
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.directories.partition_metadata import read_partition_metadata
from ottla.storage.epochs.epoch_cache import EpochEntry
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.checkpoint_file import CheckpointFile, parse_integer
from ottla.storage.files.durable_file import read_file
from ottla.storage.producers.producer_snapshot import read_snapshot
from ottla.wire.errors import ProtocolError
from ottla.wire.stored.quorum_state import quorum_state_from_json


def producer_rows(disk: Disk, file: KnownFile) -> Iterator[Row]:
    return map(producer_row, read_snapshot(disk, file.path))


def leader_epoch_rows(disk: Disk, file: KnownFile) -> Iterator[Row]:
    """All entries of the file; a broker that loads it drops entries that contradict others."""
    yield from CheckpointFile(disk, file.path, str, _parse_epoch).read()


def partition_offset_rows(disk: Disk, file: KnownFile) -> Iterator[Row]:
    name = OffsetCheckpointName(basename(file.path))
    for (topic, partition), offset in OffsetCheckpoint(disk, file.directory, name).read().items():
        yield PartitionOffset(topic, partition, offset)


def partition_metadata_rows(disk: Disk, file: KnownFile) -> Iterator[Row]:
    topic_id = read_partition_metadata(disk, file.directory)
    yield Property("topic_id", None if topic_id is None else uuid_to_text(topic_id))


def meta_properties_rows(disk: Disk, file: KnownFile) -> Iterator[Row]:
    for name, value in parse_properties(_text(disk, file)).items():
        yield Property(name, value)
    read_meta_properties(disk, file.directory)


def clean_shutdown_rows(disk: Disk, file: KnownFile) -> Iterator[Row]:
    marker = read_clean_shutdown(disk, file.directory)
    yield Property("broker_epoch", marker and marker.broker_epoch)


def quorum_state_rows(disk: Disk, file: KnownFile) -> Iterator[Row]:
    try:
        state, version = quorum_state_from_json(_text(disk, file))
    except ProtocolError as error:
        raise CorruptCheckpointError(f"{file.path} is corrupt: {error}") from error
    yield Property("version", version)
    for name, value in fields_to_plain(state, version).items():
        yield Property(name, value)


def _parse_epoch(words: list[str]) -> EpochEntry:
    if len(words) != 2:
        raise ValueError("expected an epoch and an offset")
    return EpochEntry(parse_integer(words[0]), parse_integer(words[1]))


def _text(disk: Disk, file: KnownFile) -> str:
    content = read_file(disk, file.path)
    if content is None:
        raise FileNotFoundError(f"{file.path} does not exist any more")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise CorruptCheckpointError(
            f"{file.path} is corrupt: byte {error.start} is not UTF-8"
        ) from error
