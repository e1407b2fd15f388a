"""Files are recognized by their names."""

from pathlib import Path

import pytest

from ottla.dump.files import Kind, list_files, recognise, without_segments_outside
from ottla.dump.selection import Selection
from ottla.storage.files.file_names import FileKind, FileState
from tests.support.kafka.kafka_fixtures import extract
from tests.support.storage.dumped import DISK


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("00000000000000000042.log", Kind.LOG),
        ("00000000000000000042.index", Kind.OFFSET_INDEX),
        ("00000000000000000042.timeindex", Kind.TIME_INDEX),
        ("00000000000000000042.txnindex", Kind.TRANSACTION_INDEX),
        ("00000000000000000042.snapshot", Kind.PRODUCER_SNAPSHOT),
        ("00000000000000000042-0000000007.checkpoint", Kind.METADATA_SNAPSHOT),
        ("00000000000000000042-0000000007.checkpoint.part", Kind.METADATA_SNAPSHOT),
        ("bootstrap.checkpoint", Kind.METADATA_SNAPSHOT),
        ("leader-epoch-checkpoint", Kind.LEADER_EPOCHS),
        ("recovery-point-offset-checkpoint", Kind.OFFSET_CHECKPOINT),
        ("log-start-offset-checkpoint", Kind.OFFSET_CHECKPOINT),
        ("replication-offset-checkpoint", Kind.OFFSET_CHECKPOINT),
        ("cleaner-offset-checkpoint", Kind.OFFSET_CHECKPOINT),
        ("partition.metadata", Kind.PARTITION_METADATA),
        ("meta.properties", Kind.META_PROPERTIES),
        (".kafka_cleanshutdown", Kind.CLEAN_SHUTDOWN),
        ("quorum-state", Kind.QUORUM_STATE),
    ],
)
def test_name_determines_the_kind(name: str, kind: Kind) -> None:
    file = recognise(f"/data/orders-0/{name}")
    assert file is not None
    assert file.kind is kind
    assert file.topic == "orders"
    assert file.offset == (42 if name.startswith("0") else 0)


@pytest.mark.parametrize("name", ["server.log", "42.log", "00000000000000000042.tmp", ".lock"])
def test_other_names_are_not_known(name: str) -> None:
    assert recognise(f"/data/orders-0/{name}") is None


def test_files_on_their_way_out_keep_their_kind_and_their_neighbours() -> None:
    file = recognise("/data/orders-0/00000000000000000042.index.deleted")
    assert file is not None
    assert (file.kind, file.state) == (Kind.OFFSET_INDEX, FileState.DELETED)
    assert file.beside(FileKind.LOG) == "/data/orders-0/00000000000000000042.log.deleted"


def test_topic_of_a_relative_path_comes_from_the_working_directory() -> None:
    name = "00000000000000000000.log"
    file = recognise(name, working_directory="/data/__consumer_offsets-7")
    assert file is not None
    assert file.topic == "__consumer_offsets"
    above = recognise(f"../orders-1/{name}", working_directory="/data/__consumer_offsets-7")
    assert above is not None
    assert above.topic == "orders"


def test_partition_lists_what_describes_it_then_segments_by_offset(tmp_path: Path) -> None:
    partition = extract("clean/trimmed-0", tmp_path)
    (partition / "00000000000000000000.log.deleted").touch()
    (partition / "notes.txt").touch()
    names = [Path(file.path).name for file in list_files(DISK, str(partition))]
    assert names[:7] == [
        "partition.metadata",
        "leader-epoch-checkpoint",
        "00000000000000000000.log",
        "00000000000000000000.index",
        "00000000000000000000.timeindex",
        "00000000000000000000.log.deleted",
        "00000000000000000034.log",
    ]
    assert "notes.txt" not in names


def test_log_directory_lists_itself_then_its_partitions(tmp_path: Path) -> None:
    directory = extract("clean", tmp_path)
    (directory / "remote-log-index-cache").mkdir()
    files = list(list_files(DISK, str(directory)))
    own = [file for file in files if Path(file.path).parent == directory]
    assert files[: len(own)] == own
    assert own[0].kind is Kind.META_PROPERTIES
    assert {file.topic for file in files} >= {None, "plain", "__cluster_metadata"}


def test_segments_outside_a_selection_are_not_read(tmp_path: Path) -> None:
    partition = extract("clean/plain-0", tmp_path)
    files = list(list_files(DISK, str(partition)))
    chosen = without_segments_outside(files, Selection(40, 60))
    logs = [file.offset for file in chosen if file.kind is Kind.LOG]
    assert logs == [34, 56]
    assert [file.kind for file in chosen if file.kind is Kind.LEADER_EPOCHS]
    assert without_segments_outside(files, Selection()) == files
