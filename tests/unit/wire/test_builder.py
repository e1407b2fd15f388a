"""Batches that we build against those that Apache Kafka builds of the same records."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from kio.records.readers import read_batch as kio_read_batch
from kio.records.writers import write_batch as kio_write_batch

from ottla.model import LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs
from ottla.wire.records.batch import read_body, validate_batch
from ottla.wire.records.builder import (
    batch_of_one,
    build_batch,
    empty_batch,
    lone_record,
    seal_batch,
    shift_timestamp,
)
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import DELETE_HORIZON_FLAG, TimestampType, read_header
from ottla.wire.records.record import Record, iterate_records, walk_records
from tests.support.kafka.java_batches import JAVA_BATCHES
from tests.support.storage.records import JAVA_RECORDS, record_lists

EPOCH = LeaderEpoch(7)
HORIZON = TimestampMs(1700000700000)


def test_uncompressed_batch_equals_javas_byte_for_byte() -> None:
    assert build_batch(JAVA_RECORDS, leader_epoch=EPOCH) == JAVA_BATCHES["none"]


def test_transactional_batch_equals_javas_byte_for_byte() -> None:
    batch = build_batch(
        JAVA_RECORDS,
        leader_epoch=EPOCH,
        producer_id=ProducerId(4242),
        producer_epoch=ProducerEpoch(3),
        base_sequence=2**31 - 3,
        is_transactional=True,
    )
    assert batch == JAVA_BATCHES["transactional"]


def test_batch_with_a_delete_horizon_equals_javas_byte_for_byte() -> None:
    batch = build_batch(JAVA_RECORDS, leader_epoch=EPOCH, delete_horizon_ms=HORIZON)
    assert batch == JAVA_BATCHES["delete_horizon"]


@pytest.mark.parametrize("codec", list(Codec))
def test_compressed_batch_holds_the_same_records_as_javas(codec: Codec) -> None:
    batch = build_batch(JAVA_RECORDS, codec=codec, leader_epoch=EPOCH)
    ours, javas = read_header(batch), read_header(JAVA_BATCHES[codec.name.lower()])
    assert ours._replace(batch_length=0, crc=0) == javas._replace(batch_length=0, crc=0)
    validate_batch(batch, allow_gaps=True)
    assert list(iterate_records(batch)) == JAVA_RECORDS


def test_base_offset_may_be_lower_than_the_first_records() -> None:
    batch = build_batch(JAVA_RECORDS, base_offset=Offset(90))
    header = validate_batch(batch, allow_gaps=True)
    assert (header.base_offset, header.last_offset) == (90, 105)
    assert list(iterate_records(batch)) == JAVA_RECORDS


def test_log_append_time_is_the_latest_of_the_records() -> None:
    batch = build_batch(JAVA_RECORDS, timestamp_type=TimestampType.LOG_APPEND_TIME)
    assert {record.timestamp for record in iterate_records(batch)} == {1700000500000}


def test_empty_batch_equals_javas_byte_for_byte() -> None:
    batch = build_batch(
        JAVA_RECORDS,
        leader_epoch=EPOCH,
        codec=Codec.LZ4,
        producer_id=ProducerId(4242),
        producer_epoch=ProducerEpoch(3),
        base_sequence=10,
        is_transactional=True,
        delete_horizon_ms=HORIZON,
    )
    assert empty_batch(read_header(batch)) == JAVA_BATCHES["empty"]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.SNAPPY])
def test_sealing_some_of_the_records_keeps_them_as_they_were(codec: Codec) -> None:
    batch = build_batch(JAVA_RECORDS, codec=codec)
    header = read_header(batch)
    body = read_body(batch, 0, header)
    kept = list(walk_records(body, header.record_count))[1:3]
    rest = b"".join(body[start:end] for start, end, *_ in kept)
    sealed = seal_batch(header._replace(record_count=2), rest)
    assert validate_batch(sealed, allow_gaps=True).codec is codec
    assert list(iterate_records(sealed)) == JAVA_RECORDS[1:3]


def test_shifted_timestamps_under_a_delete_horizon_equal_javas_batch() -> None:
    header = read_header(JAVA_BATCHES["none"])
    body = read_body(JAVA_BATCHES["none"], 0, header)
    shifted = b"".join(
        shift_timestamp(body[start:end], by_ms=header.base_timestamp - HORIZON)
        for start, end, *_ in walk_records(body, header.record_count)
    )
    with_horizon = header._replace(
        attributes=header.attributes | DELETE_HORIZON_FLAG, base_timestamp=HORIZON
    )
    assert seal_batch(with_horizon, shifted) == JAVA_BATCHES["delete_horizon"]


@settings(max_examples=50, deadline=None)
@given(record_lists())
def test_kio_reads_what_we_build_and_writes_the_same(records: list[Record]) -> None:
    # kio keeps no fractions of a second.
    records = [
        record._replace(timestamp=TimestampMs(record.timestamp // 1000 * 1000))
        for record in records
    ]
    batch = bytes(build_batch(records, leader_epoch=EPOCH))
    judged, size = kio_read_batch(batch, 0)
    assert size == len(batch)
    assert [(int(record.offset), record.key, record.value) for record in judged.records] == [
        (int(record.offset), record.key, record.value) for record in records
    ]
    assert [
        [(header.key, header.value) for header in record.headers] for record in judged.records
    ] == [[(key.encode(), value) for key, value in record.headers] for record in records]
    written = io.BytesIO()
    kio_write_batch(written, judged)
    assert written.getvalue() == batch


@pytest.mark.parametrize("value", [None, b"", b"v" * 300])
@pytest.mark.parametrize("key", [b"", b"k", b"k" * 200])
def test_batch_of_one_equals_what_is_built_of_the_record(key: bytes, value: bytes | None) -> None:
    record = Record(Offset(0), HORIZON, key, value)
    assert batch_of_one(lone_record(key, value), timestamp=HORIZON) == build_batch([record])
