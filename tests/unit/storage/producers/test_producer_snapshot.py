from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.errors import CorruptSnapshotError
from ottla.storage.files.durable_file import replace_file
from ottla.storage.producers.producer_entry import BatchMetadata, ProducerEntry
from ottla.storage.producers.producer_snapshot import (
    decode_snapshot,
    encode_snapshot,
    read_snapshot,
)

PATH = "/00000000000000000007.snapshot"


def entry_of(*, batches: int) -> ProducerEntry:
    entry = ProducerEntry(
        7, producer_epoch=2, coordinator_epoch=3, last_timestamp=99, current_txn_first_offset=4
    )
    entry.batches += [BatchMetadata(10 * n + 9, 10 * n + 19, 9, 99) for n in range(batches)]
    return entry


def facts(entry: ProducerEntry) -> tuple[object, ...]:
    return (
        entry.producer_id,
        entry.producer_epoch,
        entry.coordinator_epoch,
        entry.last_timestamp,
        entry.current_txn_first_offset,
        entry.batches,
    )


def test_snapshot_is_version_checksum_and_producers() -> None:
    assert encode_snapshot([entry_of(batches=2)]).hex() == (
        "0001"
        "7c5aee11"
        "00000001"
        "0000000000000007"
        "0002"
        "00000013"
        "000000000000001d"
        "00000009"
        "0000000000000063"
        "00000003"
        "0000000000000004"
    )


def test_last_batch_of_each_producer_survives() -> None:
    disk = SimulatedDisk()
    content = encode_snapshot([entry_of(batches=3), ProducerEntry(8, producer_epoch=1)])
    replace_file(disk, PATH, content)
    first, second = read_snapshot(disk, PATH)
    assert facts(first) == (7, 2, 3, 99, 4, [BatchMetadata(29, 39, 9, 99)])
    assert facts(second) == (8, 1, -1, -1, None, [])


def test_corrupt_file_is_named() -> None:
    disk = SimulatedDisk()
    disk.open(PATH, create=True)
    with pytest.raises(CorruptSnapshotError, match=f"^{PATH} is corrupt: 0 bytes are too few"):
        read_snapshot(disk, PATH)


def test_unknown_version_is_refused() -> None:
    content = bytearray(encode_snapshot([]))
    content[1] = 2
    with pytest.raises(CorruptSnapshotError, match="version 2 is unknown"):
        decode_snapshot(content)


@given(st.integers(0, 55), st.integers(0, 7))
def test_no_flipped_bit_goes_unnoticed(position: int, bit: int) -> None:
    content = bytearray(encode_snapshot([entry_of(batches=1)]))
    content[position] ^= 1 << bit
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(content)


@given(st.binary(max_size=200) | st.binary(max_size=120).map(lambda tail: b"\0\1" + tail))
def test_bytes_that_are_no_snapshot_are_refused(content: bytes) -> None:
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(content)
