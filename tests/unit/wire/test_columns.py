"""Columns against the same records one by one, put together by Arrow itself."""

from __future__ import annotations

from typing import Any

import pyarrow
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ottla.model import Offset, TimestampMs
from ottla.wire.errors import ProtocolError
from ottla.wire.records.builder import build_batch, seal_batch
from ottla.wire.records.columns import (
    BinaryColumn,
    ColumnSelection,
    HeadersColumn,
    RecordColumns,
    decode_columns,
)
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import TimestampType, read_header
from ottla.wire.records.record import Record, iterate_records
from ottla.wire.varint import read_varint
from tests.support.kafka.java_batches import JAVA_BATCHES
from tests.support.storage.records import JAVA_RECORDS, record_lists


def binary_array(column: BinaryColumn, type_: Any) -> Any:
    validity = None if column.validity is None else pyarrow.py_buffer(column.validity)
    buffers = [validity, pyarrow.py_buffer(column.offsets), pyarrow.py_buffer(column.data)]
    return pyarrow.Array.from_buffers(type_, len(column.offsets) - 1, buffers)


def headers_array(column: HeadersColumn) -> Any:
    fields = [
        pyarrow.field("key", pyarrow.utf8(), nullable=False),
        pyarrow.field("value", pyarrow.binary()),
    ]
    keys, values = (
        binary_array(column.keys, pyarrow.utf8()),
        binary_array(column.values, pyarrow.binary()),
    )
    entries = pyarrow.StructArray.from_arrays([keys, values], fields=fields)
    return pyarrow.Array.from_buffers(
        pyarrow.list_(entries.type),
        len(column.offsets) - 1,
        [None, pyarrow.py_buffer(column.offsets)],
        children=[entries],
    )


def to_arrow(columns: RecordColumns) -> Any:
    table = pyarrow.table(
        {
            "offset": pyarrow.array(columns.offsets),
            "timestamp": pyarrow.array(columns.timestamps),
            "key": binary_array(columns.keys, pyarrow.binary()),
            "value": binary_array(columns.values, pyarrow.binary()),
            "headers": headers_array(columns.headers),
        }
    )
    table.validate(full=True)
    return table


def rows(records: list[Record]) -> list[dict[str, Any]]:
    return [
        {
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": record.key,
            "value": record.value,
            "headers": [{"key": key, "value": value} for key, value in record.headers],
        }
        for record in records
    ]


def decoded(*batches: bytes | bytearray) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = to_arrow(decode_columns(batches)).to_pylist()
    return found


@pytest.mark.parametrize("name", ["none", "gzip", "snappy", "lz4", "zstd", "delete_horizon"])
def test_java_batches_decode_into_arrow(name: str) -> None:
    assert decoded(JAVA_BATCHES[name]) == rows(JAVA_RECORDS)


def test_control_batches_are_left_out_and_empty_ones_are_empty() -> None:
    names = ["commit_marker", "empty", "zstd", "abort_marker", "log_append_time", "empty"]
    appended = list(iterate_records(JAVA_BATCHES["log_append_time"]))
    assert decoded(*(JAVA_BATCHES[name] for name in names)) == rows(JAVA_RECORDS + appended)


def test_no_batches_are_no_records() -> None:
    columns = decode_columns([])
    assert len(columns) == 0
    assert to_arrow(columns).num_rows == 0


def test_column_without_nulls_has_no_bitmap() -> None:
    records = [Record(Offset(number), TimestampMs(0), b"k", None) for number in range(20)]
    columns = decode_columns([build_batch(records)])
    assert columns.keys.validity is None
    assert columns.values.validity is not None
    assert bytes(columns.values.validity) == bytes(3)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(
        st.tuples(record_lists(), st.sampled_from(Codec), st.sampled_from(TimestampType)),
        max_size=4,
    )
)
def test_columns_hold_what_the_records_hold(
    batches: list[tuple[list[Record], Codec, TimestampType]],
) -> None:
    built = [
        build_batch(records, codec=codec, timestamp_type=timestamp_type)
        for records, codec, timestamp_type in batches
    ]
    expected = [record for batch in built for record in iterate_records(batch)]
    assert decoded(*built) == rows(expected)


@settings(max_examples=60, deadline=None)
@given(st.lists(record_lists(), max_size=3), st.booleans(), st.booleans(), st.booleans())
def test_columns_that_are_not_selected_are_empty_and_the_others_complete(
    batches: list[list[Record]], keys: bool, values: bool, headers: bool
) -> None:
    built = [build_batch(records) for records in batches]
    every, some = (
        decode_columns(built),
        decode_columns(built, selection=ColumnSelection(keys, values, headers)),
    )
    assert some.offsets.tolist() == every.offsets.tolist()
    assert some.timestamps.tolist() == every.timestamps.tolist()
    nothing = decode_columns([])
    for is_selected, found, whole, none in (
        (keys, some.keys, every.keys, nothing.keys),
        (values, some.values, every.values, nothing.values),
    ):
        expected = binary_array(whole if is_selected else none, pyarrow.binary())
        assert binary_array(found, pyarrow.binary()).equals(expected)
    expected = headers_array(every.headers if headers else nothing.headers)
    assert headers_array(some.headers).equals(expected)


# How many values of which length follow each other; a size takes one byte, two or three.
runs = st.lists(
    st.tuples(st.integers(1, 200), st.sampled_from([0, 53, 54, 55, 100, 101, 164, 9_000])),
    min_size=1,
    max_size=4,
)


def records_in_runs(lengths: list[tuple[int, int]]) -> list[Record]:
    values = [b"v" * length for count, length in lengths for _ in range(count)]
    return [Record(Offset(at), TimestampMs(0), b"k", value) for at, value in enumerate(values)]


@settings(max_examples=40, deadline=None)
@given(runs)
# Their sizes differ in the second byte only.
@example([(200, 100), (100, 164)])
def test_runs_of_records_of_one_size_decode_like_any_others(lengths: list[tuple[int, int]]) -> None:
    records = records_in_runs(lengths)
    assert decoded(build_batch(records)) == rows(records)


@settings(max_examples=40, deadline=None)
@given(runs, st.integers(0, 799), st.integers(0, 1), st.integers(0, 255))
def test_size_spoiled_in_a_run_means_the_same_as_to_a_walk(
    lengths: list[tuple[int, int]], record: int, which: int, byte: int
) -> None:
    batch = build_batch(records_in_runs(lengths))
    body = bytearray(batch[61:])
    ends = [0]
    while ends[-1] < len(body):
        size, start = read_varint(body, ends[-1])
        ends.append(start + size)
    body[ends[record % (len(ends) - 1)] + which] = byte
    spoiled = seal_batch(read_header(batch), body)
    try:
        expected = rows(list(iterate_records(spoiled)))
    except ProtocolError:
        with pytest.raises(ProtocolError):
            decode_columns([spoiled])
    else:
        assert decoded(spoiled) == expected


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=30, max_size=90), st.integers(0, 200))
def test_headers_of_many_records_come_in_order(counts: list[int], many: int) -> None:
    """More records with headers than are worth reading one by one, and one with very many."""
    counts[len(counts) // 2] = many
    records = [
        Record(
            Offset(number),
            TimestampMs(0),
            None,
            b"v" * number,
            tuple((f"{number}.{index}", bytes(index)) for index in range(count)),
        )
        for number, count in enumerate(counts)
    ]
    assert decoded(build_batch(records)) == rows(records)


@pytest.mark.parametrize(
    ("keys", "repaired"),
    [([b"a\xff", b"b"], ["a\ufffd", "b"]), ([b"\xc3", b"\xbc"], ["\ufffd", "\ufffd"])],
)
def test_header_keys_that_are_not_utf8_are_replaced(keys: list[bytes], repaired: list[str]) -> None:
    """The second pair is UTF-8 only if it is put together."""
    placeholder = "x" * len(keys[0])
    record = Record(
        Offset(0), TimestampMs(0), b"k", b"v", ((placeholder, b"1"), ("y" * len(keys[1]), b"2"))
    )
    batch = build_batch([record])
    body = bytes(batch[61:]).replace(placeholder.encode(), keys[0])
    body = body.replace(b"y" * len(keys[1]), keys[1])
    columns = decode_columns([seal_batch(read_header(batch), body)])
    (row,) = to_arrow(columns).to_pylist()
    assert [header["key"] for header in row["headers"]] == repaired


def test_limit_is_for_all_batches_together() -> None:
    size = len(JAVA_BATCHES["none"]) - 61
    for name in ("none", "zstd"):
        batches = [JAVA_BATCHES[name]] * 3
        assert len(decode_columns(batches, decompressed_bytes_max=3 * size)) == 12
        with pytest.raises(ProtocolError, match="more than"):
            decode_columns(batches, decompressed_bytes_max=3 * size - 1)


def test_record_with_very_many_headers_costs_no_more_than_its_bytes() -> None:
    headers = tuple(("k", b"") for _ in range(20_000))
    batch = build_batch([Record(Offset(0), TimestampMs(0), b"k", b"v", headers)])
    assert len(decode_columns([batch]).headers.keys.data) == 20_000
