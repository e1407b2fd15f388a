"""How records look when they are consumed."""

import io
import json

from ottla.cli.consume.output import (
    RecordOutput,
    Shown,
    TextLine,
    as_bytes,
    as_hexadecimal,
    as_terminal_text,
    json_of,
)
from ottla.client.records import ConsumedRecord
from ottla.wire.records.header import TimestampType

EVERYTHING = Shown(timestamp=True, offset=True, headers=True, key=True)
ONLY_VALUES = Shown(timestamp=False, offset=False, headers=False, key=False)


def message(
    value: bytes | None, key: bytes | None = None, *, timestamp: int = 1_794_817_800_250
) -> ConsumedRecord:
    headers = (("a", b"1"), ("b", None))
    kind = TimestampType.CREATE_TIME
    return ConsumedRecord("orders", 1, 42, timestamp, kind, key, value, headers)


def test_a_line_is_the_value() -> None:
    line = TextLine(ONLY_VALUES, as_bytes)
    assert line(message(b"\x00\xff")) == b"\x00\xff\n"
    assert line(message(None)) == b"null\n"
    assert line(message(b"")) == b"\n"


def test_parts_stand_before_the_value_between_tabs() -> None:
    line = TextLine(EVERYTHING, as_bytes)(message(b"v", b"k"))
    assert line == b"2026-11-16 08:30:00.250\t1\t42\ta=1,b=null\tk\tv\n"


def test_hexadecimal_is_for_keys_values_and_headers() -> None:
    line = TextLine(EVERYTHING, as_hexadecimal)(message(b"\x00\xff", b"k"))
    assert line.split(b"\t")[3:] == [b"a=31,b=null", b"6b", b"00ff\n"]


def test_records_cannot_steer_a_terminal() -> None:
    line = TextLine(ONLY_VALUES, as_terminal_text)
    assert line(message(b"\x1b[2Jboo\x07")) == b"\\x1b[2Jboo\\x07\n"
    assert line(message(b"\xff")) == b"\\xff\n"
    assert line(message("ä\t\n".encode())) == "ä\t\n\n".encode()


def test_json_has_everything() -> None:
    assert json.loads(json_of(message("ä".encode(), b"\xff"))) == {
        "topic": "orders",
        "partition": 1,
        "offset": 42,
        "timestamp": 1_794_817_800_250,
        "timestamp_type": "create_time",
        "key": "/w==",
        "key_encoding": "base64",
        "value": "ä",
        "headers": [{"key": "a", "value": "1"}, {"key": "b", "value": None}],
    }


def test_json_says_that_there_is_no_time() -> None:
    assert json.loads(json_of(message(b"", timestamp=-1)))["timestamp"] == -1


def test_records_are_written_when_the_output_is_flushed() -> None:
    stream = io.BytesIO()
    output = RecordOutput(stream, TextLine(ONLY_VALUES, as_bytes))
    output.append(message(b"one"))
    output.append(message(b"two"))
    assert stream.getvalue() == b""
    output.flush()
    output.flush()
    assert stream.getvalue() == b"one\ntwo\n"
