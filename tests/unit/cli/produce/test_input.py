"""What `ottla produce` makes of its input."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.cli.consume.output import json_of
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.produce.input import (
    Headers,
    InputFormat,
    NewRecord,
    argument_bytes,
    input_lines,
    new_reader,
)
from ottla.cli.produce.input_source import InputSource
from ottla.client.records import ConsumedRecord
from ottla.wire.records.header import TimestampType

NOW_MS = 1_794_817_800_000


def read(
    data: bytes,
    input_format: InputFormat = InputFormat.LINES,
    *,
    key: str | None = None,
    headers: tuple[str, ...] = (),
    partition: int | None = None,
    timestamp: str | None = None,
    separator: str = ":",
) -> list[NewRecord]:
    reader = new_reader(
        key=key,
        headers=headers,
        partition=partition,
        timestamp=timestamp,
        separator=separator,
        now_ms=NOW_MS,
    )
    source = InputSource(io.BytesIO(data))
    return list(reader.read(input_lines(source, input_format), input_format))


def read_json(**fields: object) -> NewRecord:
    (record,) = read(json.dumps(fields).encode(), InputFormat.JSON)
    return record


def refusal(data: bytes, input_format: InputFormat) -> CommandError:
    with pytest.raises(CommandError) as raised:
        read(data, input_format)
    assert raised.value.exit_code == ExitCode.USAGE
    return raised.value


def test_each_line_is_a_value() -> None:
    values = [record.value for record in read(b"one\ntwo\r\n\nlast")]
    assert values == [b"one", b"two", b"", b"last"]


def test_options_go_to_every_record() -> None:
    records = read(
        b"a\nb\n", key="k", headers=("x=1", "y=a=b"), partition=2, timestamp="2026-11-16T08:30"
    )
    assert records == [
        NewRecord(value, b"k", (("x", b"1"), ("y", b"a=b")), 2, NOW_MS) for value in (b"a", b"b")
    ]


def test_key_ends_at_the_first_separator() -> None:
    (record,) = read(b"k:v:w\n", InputFormat.KEY_VALUE, key="other")
    assert (record.key, record.value) == (b"k", b"v:w")
    (record,) = read(b"k:\tv\n", InputFormat.KEY_VALUE, separator=r"\t")
    assert (record.key, record.value) == (b"k:", b"v")


def test_raw_input_is_one_value() -> None:
    data = b"\x00one\r\n\xfftwo\n"
    assert read(data, InputFormat.RAW, key="k") == [NewRecord(data, b"k")]


def test_json_lines_have_it_all() -> None:
    record = read_json(
        key="k", value="v", headers={"a": "1", "b": None}, partition=3, timestamp=NOW_MS
    )
    assert record == NewRecord(b"v", b"k", (("a", b"1"), ("b", None)), 3, NOW_MS)


def test_json_values_that_are_no_text_stay_json() -> None:
    assert read_json(value={"id": 1, "name": "ä"}).value == '{"id":1,"name":"ä"}'.encode()
    assert read_json(value=12.5).value == b"12.5"
    assert read_json(value=None, key="gone") == NewRecord(None, b"gone")


def test_json_times_may_be_text() -> None:
    assert read_json(value="", timestamp="2026-11-16T08:30").timestamp_ms == NOW_MS
    assert read_json(value="", timestamp=-1).timestamp_ms is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nope", "invalid JSON: expecting value at column 1"),
        (b"[]", "a record is an object"),
        (b'{"vale": 1}', "unknown field 'vale'"),
        (b'{"key": "a"}', "for a tombstone"),
        (b'{"value": "", "partition": 1.5}', "partition is 1.5"),
        (b'{"value": "", "partition": 4294967296}', "partition is 4294967296"),
        (b'{"value": "", "partition": true}', "partition is true"),
        (b'{"value": "", "timestamp": "soon"}', "'soon' is not a time"),
        (b'{"value": "%", "value_encoding": "base64"}', "value is not valid base64"),
        (b'{"value": "", "value_encoding": "hex"}', "only base64 is known"),
        (b'{"value": "", "headers": [{"value": "x"}]}', "headers are"),
        (b'{"value": "", "headers": "x"}', "headers are"),
        (b'{"value": "\xff"}', "decode"),
    ],
)
def test_bad_json_lines_are_reported_by_number(line: bytes, reason: str) -> None:
    error = refusal(b'{"value": "fine"}\n' + line + b"\n", InputFormat.JSON)
    assert error.message.startswith("Line 2: ")
    assert reason in error.message


def test_line_without_separator_is_refused_with_what_is_missing() -> None:
    assert "no ':' between a key and a value" in refusal(b"kv\n", InputFormat.KEY_VALUE).message


def test_records_before_a_bad_line_are_given() -> None:
    reader = new_reader(
        key=None, headers=(), partition=None, timestamp=None, separator=":", now_ms=NOW_MS
    )
    records = reader.read([b"a:1\n", b"bad\n"], InputFormat.KEY_VALUE)
    assert next(records).value == b"1"
    with pytest.raises(CommandError, match="Line 2"):
        next(records)


@pytest.mark.parametrize(
    ("headers", "timestamp", "separator"),
    [(("nameless",), None, ":"), ((), "never", ":"), ((), None, "")],
)
def test_wrong_options_are_wrong_usage(
    headers: tuple[str, ...], timestamp: str | None, separator: str
) -> None:
    with pytest.raises(CommandError) as raised:
        read(b"", headers=headers, timestamp=timestamp, separator=separator)
    assert raised.value.exit_code == ExitCode.USAGE


def test_arguments_keep_bytes_that_are_no_text() -> None:
    assert argument_bytes(b"\xff\xfe".decode(errors="surrogateescape")) == b"\xff\xfe"


DATA = st.none() | st.binary(max_size=20)


@given(
    key=DATA,
    value=DATA,
    headers=st.lists(st.tuples(st.text("abc", max_size=3), DATA), max_size=3).map(tuple),
    partition=st.integers(0, 10),
    timestamp_ms=st.integers(0, 2**62),
)
def test_what_consume_prints_produce_reads(
    key: bytes | None, value: bytes | None, headers: Headers, partition: int, timestamp_ms: int
) -> None:
    kind = TimestampType.CREATE_TIME
    record = ConsumedRecord("any", partition, 12, timestamp_ms, kind, key, value, headers)
    expected = NewRecord(value, key, headers, partition, timestamp_ms)
    assert read(json_of(record), InputFormat.JSON) == [expected]
