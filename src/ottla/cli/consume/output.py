"""The output of `ottla consume`.

Pipes and files get the bytes unchanged; on a terminal unprintable bytes are escaped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from ottla.cli.display.cells import moment
from ottla.cli.display.terminal import json_line
from ottla.dump.plain import put_bytes

Encode: TypeAlias = Callable[[bytes | None], bytes]


class Shown(NamedTuple):
    """The parts of a record that a line has before its value."""

    timestamp: bool
    offset: bool
    headers: bool
    key: bool


class RecordOutput:
    """Collects records, and writes them at once on `flush`."""

    def __init__(self, stream: BinaryIO, to_line: Callable[[Message], bytes]) -> None:
        self._stream = stream
        self._to_line = to_line
        self._lines: list[bytes] = []

    def append(self, message: Message) -> None:
        self._lines.append(self._to_line(message))

    def flush(self) -> None:
        self._stream.write(b"".join(self._lines))
        self._stream.flush()
        self._lines.clear()


def open_output(to_line: Callable[[Message], bytes]) -> RecordOutput:
    """An output to standard output."""
    return RecordOutput(sys.stdout.buffer, to_line)


class TextLine:
    """Formats a record as a line: the shown parts, separated by tabs, the value last."""

    def __init__(self, shown: Shown, encode: Encode) -> None:
        self._shown = shown
        self._encode = encode

    def __call__(self, message: Message) -> bytes:
        parts = []
        if self._shown.timestamp:
            parts.append(moment(timestamp_of(message)).encode())
        if self._shown.offset:
            parts.append(b"%d\t%d" % (message.partition() or 0, message.offset() or 0))
        if self._shown.headers:
            parts.append(headers_text(message, self._encode))
        if self._shown.key:
            parts.append(self._encode(message.key()))
        parts.append(self._encode(message.value()))
        return b"\t".join(parts) + b"\n"


def json_of(message: Message) -> bytes:
    return json_line(record_json(message)).encode()


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


def record_json(message: Message) -> dict[str, Any]:
    """A record with the field names of `ottla dump --json`; `ottla produce` can read it."""
    kind, _ = message.timestamp()
    fields: dict[str, Any] = {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": timestamp_of(message),
        "timestamp_type": "log_append_time" if kind == TIMESTAMP_LOG_APPEND_TIME else "create_time",
    }
    put_bytes(fields, "key", message.key())
    put_bytes(fields, "value", message.value())
    fields["headers"] = [_header_json(name, value) for name, value in headers_of(message)]
    return fields


def timestamp_of(message: Message) -> int:
    """Milliseconds since 1970, or -1, which in Kafka stands for no timestamp."""
    kind, timestamp_ms = message.timestamp()
    return -1 if kind == TIMESTAMP_NOT_AVAILABLE else timestamp_ms


def headers_text(message: Message, encode: Encode) -> bytes:
    """`name=value,name=value`."""
    return b",".join(name.encode() + b"=" + encode(value) for name, value in headers_of(message))


def headers_of(message: Message) -> list[tuple[str, bytes | None]]:
    headers = message.headers() or []
    assert isinstance(headers, list), "the client gives received headers as a list"
    return [(name, value.encode() if isinstance(value, str) else value) for name, value in headers]


def _header_json(name: str, value: bytes | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"key": name}
    put_bytes(fields, "value", value)
    return fields
