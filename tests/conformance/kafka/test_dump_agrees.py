"""`ottla dump` and Kafka's DumpLogSegments say the same about the same files."""

import json
import re
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ottla.dump.files import list_files, recognise
from ottla.dump.reading import Reading, read_rows
from ottla.dump.readonly_disk import ReadonlyDisk
from ottla.dump.rows import BatchRow, Problem, ProducerRow, RecordRow, Row, StoredRecord
from ottla.dump.verification import verify_file
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.indexes.offset_index import OffsetPosition
from ottla.storage.indexes.time_index import TimestampOffset
from ottla.storage.indexes.transaction_index import AbortedTransaction
from tests.conformance.kafka.dump import DumpedBatch, DumpedFile, DumpedProducer, DumpedRecord
from tests.conformance.kafka.judge import DUMPED_SUFFIXES, Judge
from tests.support.kafka.kafka_fixtures import extract, partition_names

pytestmark = pytest.mark.java

DISK = ReadonlyDisk(SystemDisk())
DEEP = Reading(deep=True)
TIMESTAMP_TYPES = {"create_time": "CreateTime", "log_append_time": "LogAppendTime"}
DECODERS = {
    "__consumer_offsets-0": "--offsets-decoder",
    "__transaction_state-0": "--transaction-log-decoder",
    "__cluster_metadata-0": "--cluster-metadata-decoder",
}
CONTENT = re.compile(r" (?:key: (?P<key>.*?))? ?(?:payload: (?P<value>.*))?", re.DOTALL)
CONTROL = re.compile(r" (?P<type>\w+):? (?P<value>\{.*\})")
MARKER = re.compile(r" endTxnMarker: (?P<type>\w+) coordinatorEpoch: (?P<epoch>\d+)")
DELETED = "<DELETE>"

SomeRow = TypeVar("SomeRow")


def rows_of(path: Path) -> list[Row]:
    file = recognise(str(path))
    assert file is not None
    return list(read_rows(DISK, file, DEEP))


def only(rows: list[Row], row_type: type[SomeRow]) -> list[SomeRow]:
    return [row for row in rows if isinstance(row, row_type)]


def dumped_files(partition: Path) -> list[Path]:
    return sorted(path for path in partition.iterdir() if path.suffix in DUMPED_SUFFIXES)


def kafkas_batch(row: BatchRow) -> DumpedBatch:
    return DumpedBatch(
        base_offset=row.base_offset,
        last_offset=row.last_offset,
        count=row.record_count,
        base_sequence=row.base_sequence,
        last_sequence=row.last_sequence,
        producer_id=row.producer_id,
        producer_epoch=row.producer_epoch,
        partition_leader_epoch=row.leader_epoch,
        is_transactional=row.is_transactional,
        is_control=row.is_control,
        delete_horizon_ms=row.delete_horizon_ms,
        position=row.position,
        timestamp_type=TIMESTAMP_TYPES[row.timestamp_type],
        max_timestamp=row.max_timestamp,
        size=row.size_in_bytes,
        magic=row.magic,
        compression=row.codec,
        crc=row.crc,
        is_valid=row.is_valid,
    )


def kafkas_producer(row: ProducerRow) -> DumpedProducer:
    has_batch = row.last_offset is not None
    return DumpedProducer(**row._asdict(), timestamp=row.last_timestamp if has_batch else None)


def in_common(row: RecordRow) -> tuple[Any, ...]:
    sizes = [-1 if data is None else len(data) for data in (row.key, row.value)]
    names = ",".join(name for name, _ in row.headers)
    return (row.offset, row.timestamp, *sizes, row.sequence, names)


def kafkas_in_common(record: DumpedRecord) -> tuple[Any, ...]:
    sizes = (record.key_size, record.value_size)
    return (record.offset, record.timestamp, *sizes, record.sequence, record.header_keys)


@pytest.mark.parametrize("name", [*partition_names("clean"), *partition_names("unclean")])
def test_same_batches_records_and_entries(judge: Judge, tmp_path: Path, name: str) -> None:
    files = dumped_files(extract(name, tmp_path))
    # An index of the active segment ends in zeros; both tools stop in front of them.
    for path, kafkas in zip(files, judge.dump(files, "--deep-iteration").files, strict=True):
        rows = rows_of(path)
        assert not only(rows, Problem)
        assert list(map(kafkas_batch, only(rows, BatchRow))) == kafkas.batches
        assert list(map(in_common, only(rows, RecordRow))) == list(
            map(kafkas_in_common, kafkas.records)
        )
        assert list(map(kafkas_producer, only(rows, ProducerRow))) == kafkas.producers
        assert_same_entries(rows, kafkas)


def assert_same_entries(rows: list[Row], kafkas: DumpedFile) -> None:
    # Where an index is nothing but zeros, Kafka takes the first of them for an entry.
    positions = [(entry.offset, entry.position) for entry in kafkas.index if entry.position]
    assert only(rows, OffsetPosition) == positions
    times = [(entry.timestamp, entry.offset) for entry in kafkas.time_index if entry.timestamp]
    assert only(rows, TimestampOffset) == times
    assert [(0, *entry) for entry in only(rows, AbortedTransaction)] == [
        (txn.version, txn.producer_id, txn.first_offset, txn.last_offset, txn.last_stable_offset)
        for txn in kafkas.aborted
    ]


def plain_names(value: Any) -> Any:
    """JSON with names that Kafka and we would write alike: lower case, no underscores."""
    if isinstance(value, dict):
        return {
            name.replace("_", "").lower(): plain_names(element) for name, element in value.items()
        }
    if isinstance(value, list):
        return [plain_names(element) for element in value]
    return value


def assert_covers(ours: Any, kafkas: Any) -> None:
    """Kafka leaves out tagged fields that have their defaults; we show them."""
    if isinstance(kafkas, dict):
        assert kafkas.keys() <= ours.keys()
        for name, value in kafkas.items():
            assert_covers(ours[name], value)
    elif isinstance(kafkas, list):
        assert len(ours) == len(kafkas)
        for our_element, kafkas_element in zip(ours, kafkas, strict=True):
            assert_covers(our_element, kafkas_element)
    else:
        assert ours == kafkas


def assert_same_content(stored: StoredRecord | None, kafkas: str | None) -> None:
    if kafkas is None or kafkas == DELETED:
        assert stored is None
        return
    parsed = json.loads(kafkas)
    assert stored is not None
    assert_covers(plain_names(stored.fields), plain_names(parsed["data"]))
    if "version" in parsed:
        assert stored.version == int(parsed["version"])


def assert_same_control(row: RecordRow, kafkas: str) -> None:
    assert row.value_record is not None
    if marker := MARKER.fullmatch(kafkas):
        assert row.control_type == marker["type"]
        assert row.value_record.fields == {"coordinator_epoch": int(marker["epoch"])}
    else:
        found = CONTROL.fullmatch(kafkas)
        assert found is not None, kafkas
        assert row.control_type is not None
        assert row.control_type.replace("_", "").lower() == found["type"].lower()
        fields = plain_names(row.value_record.fields)
        assert_covers(fields, plain_names(json.loads(found["value"])))


@pytest.mark.parametrize("partition", DECODERS)
def test_same_meaning_of_internal_records(judge: Judge, tmp_path: Path, partition: str) -> None:
    directory = extract(f"clean/{partition}", tmp_path)
    files = [path for path in dumped_files(directory) if path.suffix in (".log", ".checkpoint")]
    for path, kafkas in zip(files, judge.dump(files, DECODERS[partition]).files, strict=True):
        rows = only(rows_of(path), RecordRow)
        for row, record in zip(rows, kafkas.records, strict=True):
            assert row.decode_error is None
            if row.control_type is not None:
                assert_same_control(row, record.rest)
                continue
            found = CONTENT.fullmatch(record.rest)
            assert found is not None, record.rest
            assert_same_content(row.key_record, found["key"])
            assert_same_content(row.value_record, found["value"])


def test_same_end_of_transactions(judge: Judge, tmp_path: Path) -> None:
    directory = extract("clean/transactions-0", tmp_path)
    files = [path for path in dumped_files(directory) if path.suffix == ".log"]
    ends = []
    for path, kafkas in zip(files, judge.dump(files, "--deep-iteration").files, strict=True):
        for row, record in zip(only(rows_of(path), RecordRow), kafkas.records, strict=True):
            if row.control_type is not None:
                assert_same_control(row, record.rest)
                ends.append(row.control_type)
    assert set(ends) == {"ABORT", "COMMIT"}


def our_problems(directory: Path) -> Iterator[str]:
    for file in list_files(DISK, str(directory)):
        for row in verify_file(DISK, file):
            if isinstance(row, Problem):
                yield row.reason


def change(name: str, how: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def change_in(directory: Path) -> None:
        path = directory / name
        path.write_bytes(how(path.read_bytes()))

    return change_in


SEGMENT = "00000000000000000034"


@pytest.mark.parametrize(
    "damage",
    [
        change(f"{SEGMENT}.log", lambda data: data[:-1] + bytes([data[-1] ^ 1])),
        change(f"{SEGMENT}.log", lambda data: data[:-1]),
        change(f"{SEGMENT}.log", lambda data: data + bytes(100)),
        change(f"{SEGMENT}.log", lambda data: data + data),
        change(f"{SEGMENT}.index", lambda data: data[:-4] + struct.pack(">i", 1)),
        change(f"{SEGMENT}.index", lambda data: struct.pack(">i", 2) + data[4:]),
        change(f"{SEGMENT}.timeindex", lambda data: struct.pack(">q", 7) + data[8:]),
        change(f"{SEGMENT}.timeindex", lambda data: data[:8] + struct.pack(">i", 1) + data[12:]),
        change(f"{SEGMENT}.timeindex", lambda data: data[:12] + data),
        change(f"{SEGMENT}.snapshot", lambda data: data[:-1] + b"?"),
    ],
)
def test_what_kafka_condemns_we_condemn(
    judge: Judge, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    whole = extract("clean/plain-0", tmp_path)
    partition = tmp_path / "damaged" / "plain-0"
    partition.mkdir(parents=True)
    for path in whole.glob(f"{SEGMENT}.*"):
        shutil.copy(path, partition)
    assert not judge.problems(partition)
    assert not list(our_problems(partition))
    damage(partition)
    assert judge.problems(partition)
    assert list(our_problems(partition))
