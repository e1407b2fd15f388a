"""Control records, against the markers that Apache Kafka writes."""

from __future__ import annotations

import struct

import pytest

from ottla.model import LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import assign_offset_and_epoch
from ottla.wire.records.builder import build_batch
from ottla.wire.records.control import (
    ControlRecordType,
    EndTransactionMarker,
    control_record,
    end_transaction_batch,
    read_control_type,
    read_end_transaction_marker,
    read_marker_batch,
)
from ottla.wire.records.header import read_header
from ottla.wire.records.record import Record, iterate_records
from tests.support.kafka.java_batches import JAVA_BATCHES

NOW = TimestampMs(1700000000000)


def marker_batch(record_type: ControlRecordType) -> bytearray:
    return end_transaction_batch(
        EndTransactionMarker(record_type, 12),
        producer_id=ProducerId(4242),
        producer_epoch=ProducerEpoch(3),
        timestamp=NOW,
    )


def test_abort_marker_equals_javas_byte_for_byte() -> None:
    assert marker_batch(ControlRecordType.ABORT) == JAVA_BATCHES["abort_marker"]


def test_commit_marker_equals_javas_once_the_log_has_placed_it() -> None:
    batch = marker_batch(ControlRecordType.COMMIT)
    assign_offset_and_epoch(batch, 0, base_offset=Offset(50), leader_epoch=LeaderEpoch(7))
    assert batch == JAVA_BATCHES["commit_marker"]


@pytest.mark.parametrize(
    ("name", "record_type"),
    [("abort_marker", ControlRecordType.ABORT), ("commit_marker", ControlRecordType.COMMIT)],
)
def test_javas_markers_are_read(name: str, record_type: ControlRecordType) -> None:
    (record,) = iterate_records(JAVA_BATCHES[name])
    assert read_end_transaction_marker(record) == EndTransactionMarker(record_type, 12)
    assert read_marker_batch(JAVA_BATCHES[name]) == EndTransactionMarker(record_type, 12)


def test_marker_that_looks_like_no_other_is_read_as_a_record() -> None:
    """A later version of the key or the value may be longer."""
    marker = struct.pack(">hi", 1, 12) + b"more"
    record = control_record(ControlRecordType.ABORT, marker, offset=Offset(0), timestamp=NOW)
    batch = build_batch([record], is_control=True, is_transactional=True)
    assert read_marker_batch(batch) == EndTransactionMarker(ControlRecordType.ABORT, 12)


def test_batch_as_long_as_a_marker_that_is_none_is_refused() -> None:
    record = Record(Offset(0), NOW, struct.pack(">hh", 0, 2), struct.pack(">hi", 0, 12))
    batch = build_batch([record], is_control=True)
    assert len(batch) == len(marker_batch(ControlRecordType.ABORT))
    with pytest.raises(ProtocolError, match="LEADER_CHANGE"):
        read_marker_batch(batch)


@pytest.mark.parametrize("record_type", [kind for kind in ControlRecordType if kind >= 0])
def test_control_record_keeps_its_type_and_its_value(record_type: ControlRecordType) -> None:
    record = control_record(record_type, b"raw", offset=Offset(3), timestamp=NOW)
    batch = build_batch([record], is_control=True, leader_epoch=LeaderEpoch(2))
    assert read_header(batch).is_control
    (read,) = iterate_records(batch)
    assert read_control_type(read.key) is record_type
    assert read.value == b"raw"


def test_types_have_kafkas_numbers() -> None:
    assert [kind.name for kind in sorted(ControlRecordType)] == [
        "UNKNOWN",
        "ABORT",
        "COMMIT",
        "LEADER_CHANGE",
        "SNAPSHOT_HEADER",
        "SNAPSHOT_FOOTER",
        "KRAFT_VERSION",
        "KRAFT_VOTERS",
    ]
    assert sorted(ControlRecordType) == list(range(-1, 7))


def test_type_of_a_later_version_is_unknown_and_no_error() -> None:
    assert read_control_type(struct.pack(">hh", 0, 77)) is ControlRecordType.UNKNOWN
    assert read_control_type(struct.pack(">hhi", 1, 1, 5)) is ControlRecordType.COMMIT


@pytest.mark.parametrize("key", [None, b"", b"\x00\x00\x00", b"\xff\xff\x00\x00"])
def test_malformed_key_is_refused(key: bytes | None) -> None:
    with pytest.raises(ProtocolError, match="control record"):
        read_control_type(key)


@pytest.mark.parametrize("value", [None, b"", b"\x00" * 5, b"\xff\xff\x00\x00\x00\x01"])
def test_malformed_marker_is_refused(value: bytes | None) -> None:
    record = Record(Offset(0), NOW, struct.pack(">hh", 0, 1), value)
    with pytest.raises(ProtocolError, match="end transaction marker"):
        read_end_transaction_marker(record)


def test_other_control_records_do_not_end_a_transaction() -> None:
    record = control_record(
        ControlRecordType.LEADER_CHANGE, b"raw", offset=Offset(0), timestamp=NOW
    )
    with pytest.raises(ProtocolError, match="LEADER_CHANGE does not end a transaction"):
        read_end_transaction_marker(record)
