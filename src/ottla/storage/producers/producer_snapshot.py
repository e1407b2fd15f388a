"""`.snapshot`: the producers of a partition as of the offset in the file's name.

Big-endian: version 1, the CRC-32C of everything after it, the number of producers, and 46 bytes per
producer. Of a producer's batches only the last is stored, with the timestamp of the producer's
latest batch or marker.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from typing import Final

from crc32c import crc32c

from ottla.model import Buffer
from ottla.runtime.disk import Disk
from ottla.storage.errors import CorruptSnapshotError
from ottla.storage.files.durable_file import read_file
from ottla.storage.producers.producer_entry import NO_OFFSET, BatchMetadata, ProducerEntry

VERSION: Final = 1

_VERSION_AND_CRC: Final = struct.Struct(">hI")
_COUNT: Final = struct.Struct(">i")
_ENTRY: Final = struct.Struct(">qhiqiqiq")
_ENTRIES_AT: Final = _VERSION_AND_CRC.size + _COUNT.size


def read_snapshot(disk: Disk, path: str) -> list[ProducerEntry]:
    """The producers of an existing snapshot. Raises `CorruptSnapshotError` if it is invalid."""
    content = read_file(disk, path)
    if content is None:
        raise FileNotFoundError(path)
    try:
        return decode_snapshot(content)
    except CorruptSnapshotError as error:
        raise CorruptSnapshotError(
            f"{path} is corrupt: {error}. Remove it and replay the log from an older one."
        ) from error


def encode_snapshot(entries: Collection[ProducerEntry]) -> bytes:
    covered = _COUNT.pack(len(entries)) + b"".join(map(_encode_entry, entries))
    return _VERSION_AND_CRC.pack(VERSION, crc32c(covered)) + covered


def decode_snapshot(content: Buffer) -> list[ProducerEntry]:
    view = memoryview(content)
    if len(view) < _ENTRIES_AT:
        raise CorruptSnapshotError(f"{len(view)} bytes are too few")
    version, crc = _VERSION_AND_CRC.unpack_from(view)
    if version != VERSION:
        raise CorruptSnapshotError(f"version {version} is unknown")
    if crc32c(view[_VERSION_AND_CRC.size :]) != crc:
        raise CorruptSnapshotError("its checksum does not match its bytes")
    (count,) = _COUNT.unpack_from(view, _VERSION_AND_CRC.size)
    entries = view[_ENTRIES_AT:]
    if count * _ENTRY.size != len(entries):
        raise CorruptSnapshotError(
            f"the entries of {count} producers do not have {len(entries)} bytes"
        )
    return [_decode_entry(*fields) for fields in _ENTRY.iter_unpack(entries)]


def _encode_entry(entry: ProducerEntry) -> bytes:
    first_offset = entry.current_txn_first_offset
    return _ENTRY.pack(
        entry.producer_id,
        entry.producer_epoch,
        entry.last_sequence,
        entry.last_data_offset,
        entry.last_offset_delta,
        entry.last_timestamp,
        entry.coordinator_epoch,
        NO_OFFSET if first_offset is None else first_offset,
    )


def _decode_entry(
    producer_id: int,
    producer_epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp: int,
    coordinator_epoch: int,
    current_txn_first_offset: int,
) -> ProducerEntry:
    entry = ProducerEntry(
        producer_id,
        producer_epoch=producer_epoch,
        coordinator_epoch=coordinator_epoch,
        last_timestamp=timestamp,
        current_txn_first_offset=current_txn_first_offset
        if current_txn_first_offset >= 0
        else None,
    )
    if last_offset >= 0:
        entry.batches.append(BatchMetadata(last_sequence, last_offset, offset_delta, timestamp))
    return entry
