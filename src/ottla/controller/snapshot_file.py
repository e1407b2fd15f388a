"""Snapshots of the metadata: the state that results from the log's records up to an offset
(KIP-630).

`00000000000000000074-0000000001.checkpoint` has the state after the records below offset 74, the
last of which has epoch 1. Like a log it consists of record batches, with their own offsets: a
control batch with the header and the quorum's voters, the image's records, a control batch with the
footer. The file is written under another name and then renamed, so a file with this name is
complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import basename, dirname
from typing import Final, NamedTuple, Self

from ottla.controller.record_batches import (
    DecodedBatch,
    decode_batch,
    encode_batches,
    encode_control_batch,
)
from ottla.metadata import MetadataImage, image_records
from ottla.runtime.disk import Disk, File
from ottla.storage.errors import CorruptLogError, CorruptSnapshotError
from ottla.storage.segments.batch_scan import scan_batches
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import verify_crc
from ottla.wire.schema import Message
from ottla.wire.stored.quorum import (
    KRaftVersionRecord,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)

SUFFIX: Final = ".checkpoint"
PARTIAL_SUFFIX: Final = ".checkpoint.part"
DELETED_SUFFIX: Final = ".checkpoint.deleted"

_NAME: Final = re.compile(r"(?P<end_offset>[0-9]{20})-(?P<epoch>[0-9]{10})\.checkpoint")


class SnapshotId(NamedTuple):
    """The end offset and epoch of a snapshot. Later snapshots compare greater."""

    end_offset: int
    epoch: int

    @property
    def file_name(self) -> str:
        return f"{self.end_offset:020d}-{self.epoch:010d}{SUFFIX}"

    @classmethod
    def parse(cls, name: str) -> Self | None:
        match = _NAME.fullmatch(name)
        return match and cls(int(match["end_offset"]), int(match["epoch"]))


# The snapshot written by formatting: it has the voters and no records.
BOOTSTRAP_SNAPSHOT: Final = SnapshotId(0, 0)


class SnapshotVoters(NamedTuple):
    """The voters and the kraft.version (KIP-853)."""

    kraft_version: int
    record: VotersRecord

    def records(self) -> list[Message]:
        return [KRaftVersionRecord(kraft_version=self.kraft_version), self.record]


class Snapshot(NamedTuple):
    """A snapshot to be written. `write` uses only files, so a worker may run it.

    The image is a copy that is not modified.
    """

    disk: Disk
    path: str
    id: SnapshotId
    records: MetadataImage | tuple[Message, ...]
    metadata_version: int
    voters: SnapshotVoters | None
    last_contained_log_timestamp: int
    now_ms: int

    def write(self) -> None:
        """Returns once the file is durable. Replaces an existing file."""
        partial = self.path.removesuffix(SUFFIX) + PARTIAL_SUFFIX
        file = self.disk.open(partial, create=True)
        try:
            file.truncate(0)
            self._write_to(file)
            file.sync()
        finally:
            file.close()
        self.disk.rename(partial, self.path)
        self.disk.sync_directory(dirname(self.path))

    def _write_to(self, file: File) -> None:
        header: list[Message] = [
            SnapshotHeaderRecord(last_contained_log_timestamp=self.last_contained_log_timestamp)
        ]
        if self.voters is not None:
            header += self.voters.records()
        position = file.write_at(0, [self._control_batch(header, 0)])
        offset = len(header)
        records = self.records
        for batch, next_offset in encode_batches(
            image_records(records) if isinstance(records, MetadataImage) else records,
            metadata_version=self.metadata_version,
            base_offset=offset,
            leader_epoch=self.id.epoch,
            now_ms=self.now_ms,
        ):
            position += file.write_at(position, [batch])
            offset = next_offset
        file.write_at(position, [self._control_batch([SnapshotFooterRecord()], offset)])

    def _control_batch(self, records: list[Message], base_offset: int) -> bytearray:
        return encode_control_batch(
            records, base_offset=base_offset, leader_epoch=self.id.epoch, now_ms=self.now_ms
        )


def read_snapshot(disk: Disk, path: str) -> Iterator[DecodedBatch]:
    """The batches of a snapshot, including header and footer.

    `CorruptSnapshotError` may be raised after some batches, since the footer is read last: the
    caller then has to discard the results of the earlier ones.
    """
    file = disk.open_readonly(path)
    try:
        yield from _read_batches(file)
    except (CorruptLogError, ProtocolError) as error:
        raise CorruptSnapshotError(
            f"{path} is not a complete snapshot: {error}. The node uses an older snapshot and the "
            f"log instead, if it has them; if it does not start, move {basename(path)} away."
        ) from error
    finally:
        file.close()


def _read_batches(file: File) -> Iterator[DecodedBatch]:
    last: DecodedBatch | None = None
    for _, header, batch in scan_batches(file, 0, file.size()):
        verify_crc(batch, 0, header)
        decoded = decode_batch(batch)
        if last is None and not _begins_with(decoded, SnapshotHeaderRecord):
            raise ProtocolError("it has no header")
        if last is not None and _begins_with(last, SnapshotFooterRecord):
            raise ProtocolError("it has data after its footer")
        last = decoded
        yield decoded
    if last is None or not _begins_with(last, SnapshotFooterRecord):
        raise ProtocolError("it has no footer")


def _begins_with(batch: DecodedBatch, cls: type[Message]) -> bool:
    return bool(batch.records) and isinstance(batch.records[0], cls)
