"""The output of `ottla consume`.

Pipes and files get the bytes unchanged; on a terminal unprintable bytes are escaped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from ottla.cli.display.cells import moment
from ottla.cli.display.terminal import json_line
from ottla.client.records import ConsumedRecord
from ottla.client.sharing.records import SharedRecord
from ottla.dump.plain import put_bytes
from ottla.wire.records.header import TimestampType

Encode: TypeAlias = Callable[[bytes | None], bytes]
PrintedRecord: TypeAlias = ConsumedRecord | SharedRecord


class Shown(NamedTuple):
    """The parts of a record that a line has before its value."""

    timestamp: bool
    offset: bool
    headers: bool
    key: bool


class RecordOutput:
    """Collects records, and writes them at once on `flush`."""

    def __init__(self, stream: BinaryIO, to_line: Callable[[PrintedRecord], bytes]) -> None:
        self._stream = stream
        self._to_line = to_line
        self._lines: list[bytes] = []

    def append(self, record: PrintedRecord) -> None:
        self._lines.append(self._to_line(record))

    def flush(self) -> None:
        self._stream.write(b"".join(self._lines))
        self._stream.flush()
        self._lines.clear()


def open_output(to_line: Callable[[PrintedRecord], bytes]) -> RecordOutput:
    """An output to standard output."""
    return RecordOutput(sys.stdout.buffer, to_line)


class TextLine:
    """Formats a record as a line: the shown parts, separated by tabs, the value last."""

    def __init__(self, shown: Shown, encode: Encode) -> None:
        self._shown = shown
        self._encode = encode

    def __call__(self, record: PrintedRecord) -> bytes:
        parts = []
        if self._shown.timestamp:
            parts.append(moment(record.timestamp).encode())
        if self._shown.offset:
            parts.append(b"%d\t%d" % (record.partition, record.offset))
        if self._shown.headers:
            parts.append(headers_text(record, self._encode))
        if self._shown.key:
            parts.append(self._encode(record.key))
        parts.append(self._encode(record.value))
        return b"\t".join(parts) + b"\n"


def json_of(record: PrintedRecord) -> bytes:
    return json_line(record_json(record)).encode()


def as_bytes(data: bytes | None) -> bytes:
    return b"null" if data is None else data


def as_terminal_text(data: bytes | None) -> bytes:
    """Escapes all but printable text, so that a record cannot control the terminal."""
    if data is None:
        return as_bytes(data)
    text = data.decode(errors="backslashreplace")
    if not text.isprintable():
        text = "".join(map(_visible, text))
    return text.encode()


def _visible(character: str) -> str:
    if character.isprintable() or character in "\n\t":
        return character
    return character.encode("unicode_escape").decode()


def as_hexadecimal(data: bytes | None) -> bytes:
    return b"null" if data is None else data.hex().encode()


def record_json(record: PrintedRecord) -> dict[str, Any]:
    """A record with the field names of `ottla dump --json`; `ottla produce` can read it."""
    is_append_time = record.timestamp_type is TimestampType.LOG_APPEND_TIME
    fields: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        # -1 in Kafka stands for no timestamp.
        "timestamp": record.timestamp,
        "timestamp_type": "log_append_time" if is_append_time else "create_time",
    }
    if isinstance(record, SharedRecord):
        fields["delivery_count"] = record.delivery_count
    put_bytes(fields, "key", record.key)
    put_bytes(fields, "value", record.value)
    fields["headers"] = [_header_json(name, value) for name, value in record.headers]
    return fields


def headers_text(record: PrintedRecord, encode: Encode) -> bytes:
    """`name=value,name=value`."""
    return b",".join(name.encode() + b"=" + encode(value) for name, value in record.headers)


def _header_json(name: str, value: bytes | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"key": name}
    put_bytes(fields, "value", value)
    return fields
