"""Files of other programs keep a directory from being formatted."""

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.directories.foreign_files import refuse_foreign_files
from ottla.storage.errors import StorageError


def disk_with(*files: str) -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories("/data")
    for file in files:
        path = f"/data/{file}"
        disk.make_directories(path.rpartition("/")[0])
        if not path.endswith("/"):
            disk.open(path, create=True).close()
    return disk


@pytest.mark.parametrize(
    "file",
    ["photo.jpg", "photos/photo.jpg", "photos-2024/photo.jpg", "server.properties", "orders-0"],
)
def test_foreign_files_are_refused_by_name(file: str) -> None:
    with pytest.raises(StorageError) as refused:
        refuse_foreign_files(disk_with(file, ".lock"), ["/data"])
    assert f"not Kafka's: {file.partition('/')[0]}. Choose an empty directory" in str(refused.value)


def test_many_foreign_files_are_counted() -> None:
    with pytest.raises(StorageError, match=r"not Kafka's: a, b, c and 2 more\."):
        refuse_foreign_files(disk_with("e", "d", "c", "b", "a"), ["/data"])


@pytest.mark.parametrize(
    "file",
    [
        ".hidden",
        "lost+found/",
        "meta.properties.tmp",
        "bootstrap.checkpoint",
        "recovery-point-offset-checkpoint",
        "cleaner-offset-checkpoint.tmp",
        "orders-0/00000000000000000000.log",
        "orders-1/partition.metadata",
        "orders-2/",
        "orders-3.0123456789abcdef0123456789abcdef-delete/00000000000000000000.log",
        "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint",
        "__cluster_metadata-0/quorum-state",
    ],
)
def test_kafkas_files_are_accepted(file: str) -> None:
    refuse_foreign_files(disk_with(file), ["/data"])


def test_a_formatted_directory_may_hold_anything() -> None:
    refuse_foreign_files(disk_with("meta.properties", "photo.jpg"), ["/data"])


def test_a_directory_that_does_not_exist_is_empty() -> None:
    refuse_foreign_files(SimulatedDisk(), ["/nowhere"])
