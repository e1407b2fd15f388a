from __future__ import annotations

import pytest

from ottla.model import TopicPartition, Uuid
from ottla.storage.files.file_names import (
    DirectoryState,
    FileKind,
    FileState,
    PartitionDirectoryName,
    SegmentFileName,
)

UNIQUE_ID = Uuid(bytes.fromhex("00112233445566778899aabbccddeeff"))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("00000000000000000000.log", SegmentFileName(0, FileKind.LOG)),
        ("00000000000000368769.index", SegmentFileName(368769, FileKind.OFFSET_INDEX)),
        ("00000000000000000007.timeindex", SegmentFileName(7, FileKind.TIME_INDEX)),
        ("00000000000000000007.txnindex", SegmentFileName(7, FileKind.TRANSACTION_INDEX)),
        ("00000000000000000007.snapshot", SegmentFileName(7, FileKind.PRODUCER_SNAPSHOT)),
        ("00000000000000000007.log.swap", SegmentFileName(7, FileKind.LOG, FileState.SWAP)),
        (
            "09223372036854775807.timeindex.cleaned",
            SegmentFileName(2**63 - 1, FileKind.TIME_INDEX, FileState.CLEANED),
        ),
        (
            "00000000000000000007.snapshot.deleted",
            SegmentFileName(7, FileKind.PRODUCER_SNAPSHOT, FileState.DELETED),
        ),
    ],
)
def test_segment_file_name_reads_back_as_its_parts(name: str, parts: SegmentFileName) -> None:
    assert SegmentFileName.parse(name) == parts
    assert str(parts) == name


@pytest.mark.parametrize(
    "name",
    [
        "leader-epoch-checkpoint",
        "partition.metadata",
        "7.log",
        "00000000000000000007",
        "00000000000000000007.log.tmp",
        "00000000000000000007.logs",
        "99999999999999999999.log",
        "00000000000000000000-0000000000.checkpoint",
    ],
)
def test_other_files_of_a_directory_are_no_segment_files(name: str) -> None:
    assert SegmentFileName.parse(name) is None


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("orders-eu-12", PartitionDirectoryName(TopicPartition("orders-eu", 12))),
        (
            "orders-0.00112233445566778899aabbccddeeff-delete",
            PartitionDirectoryName(TopicPartition("orders", 0), DirectoryState.DELETE, UNIQUE_ID),
        ),
        (
            "a.b-delete-1.00112233445566778899aabbccddeeff-future",
            PartitionDirectoryName(
                TopicPartition("a.b-delete", 1), DirectoryState.FUTURE, UNIQUE_ID
            ),
        ),
        (
            "orders-0.00112233445566778899aabbccddeeff-stray",
            PartitionDirectoryName(TopicPartition("orders", 0), DirectoryState.STRAY, UNIQUE_ID),
        ),
    ],
)
def test_directory_name_reads_back_as_its_parts(name: str, parts: PartitionDirectoryName) -> None:
    assert PartitionDirectoryName.parse(name) == parts
    assert str(parts) == name


@pytest.mark.parametrize("name", ["lost+found", "orders", "orders-0-delete", "-0", "orders-x"])
def test_directory_that_is_no_partition_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a partition's directory"):
        PartitionDirectoryName.parse(name)


def test_directory_to_delete_of_the_longest_topic_still_fits_the_file_system() -> None:
    partition = TopicPartition("t" * 249, 123)
    name = str(PartitionDirectoryName(partition, DirectoryState.DELETE, UNIQUE_ID))
    assert len(name) == 255
    assert PartitionDirectoryName.parse(name).state is DirectoryState.DELETE
