"""What `ottla produce` reads, and the records it makes of it."""

from __future__ import annotations

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Any, Final, NamedTuple

from ottla.cli.arguments.moments import TIMESTAMP_MAX, parse_moment
from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.produce.input_source import InputSource

Headers = tuple[tuple[str, bytes | None], ...]

# What `ottla consume --json` prints besides; it says where a record was, not what it is.
IGNORED_FIELDS: Final = frozenset(
    {"topic", "offset", "timestamp_type", "leader_epoch", "delivery_count"}
)
KNOWN_FIELDS: Final = frozenset(
    {"key", "key_encoding", "value", "value_encoding", "headers", "partition", "timestamp"}
)
PARTITION_MAX: Final = 2**31 - 1


class InputFormat(StrEnum):
    LINES = "lines"
    KEY_VALUE = "key-value"
    JSON = "json"
    RAW = "raw"


class NewRecord(NamedTuple):
    """A record to produce. What is None is left to the client: any partition, the time of now."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    partition: int | None = None
    timestamp_ms: int | None = None


class RecordReader(NamedTuple):
    """Makes records of input. `template` has what every record gets that says nothing else."""

    template: NewRecord
    separator: bytes
    now_ms: int

    def read(self, lines: Iterable[bytes], input_format: InputFormat) -> Iterator[NewRecord]:
        """A record for each line. Raises CommandError at the first that makes none."""
        if input_format is InputFormat.RAW:
            return map(self._of_line, lines)
        parse: dict[InputFormat, Callable[[bytes], NewRecord]] = {
            InputFormat.LINES: self._of_line,
            InputFormat.KEY_VALUE: self._of_key_and_value,
            InputFormat.JSON: self._of_json,
        }
        return _parse_lines(lines, parse[input_format])

    def _of_line(self, line: bytes) -> NewRecord:
        return NewRecord(line, *self.template[1:])

    def _of_key_and_value(self, line: bytes) -> NewRecord:
        key, separator, value = line.partition(self.separator)
        if not separator:
            expected = self.separator.decode(errors="replace")
            raise ValueError(
                f"the line has no {expected!r} between a key and a value; set the separator "
                "with --separator"
            )
        return NewRecord(value, key, *self.template[2:])

    def _of_json(self, line: bytes) -> NewRecord:
        try:
            fields = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"invalid JSON: {error.msg.lower()} at column {error.colno}") from None
        if not isinstance(fields, dict):
            raise ValueError('a record is an object such as {"key": "a", "value": "b"}')
        if unknown := fields.keys() - KNOWN_FIELDS - IGNORED_FIELDS:
            raise ValueError(
                f"unknown field {min(unknown)!r}; a record has key, value, headers, partition and "
                "timestamp"
            )
        if "value" not in fields:
            raise ValueError('there is no "value"; for a tombstone, write "value": null')
        template = self.template
        return NewRecord(
            _bytes_field(fields, "value"),
            _bytes_field(fields, "key") if "key" in fields else template.key,
            _headers(fields["headers"]) if "headers" in fields else template.headers,
            _integer_field(fields, "partition", template.partition, highest=PARTITION_MAX),
            self._timestamp(fields.get("timestamp")),
        )

    def _timestamp(self, value: Any) -> int | None:
        if isinstance(value, str):
            return parse_moment(value, now_ms=self.now_ms)
        fields, default = {"timestamp": value}, self.template.timestamp_ms
        return _integer_field(fields, "timestamp", default, highest=TIMESTAMP_MAX)


def argument_bytes(text: str) -> bytes:
    """The bytes that were given on the command line, even if they are no text."""
    return text.encode(errors="surrogateescape")


def input_lines(source: InputSource, input_format: InputFormat) -> Iterable[bytes]:
    """Raw input is one line, whatever is in it."""
    return (source.stream.read(),) if input_format is InputFormat.RAW else source.stream


def new_reader(
    *,
    key: str | None,
    headers: Iterable[str],
    partition: int | None,
    timestamp: str | None,
    separator: str,
    now_ms: int,
) -> RecordReader:
    """A reader for the options of the command line."""
    named = parse_name_values(headers, what="--header")
    try:
        timestamp_ms = None if timestamp is None else parse_moment(timestamp, now_ms=now_ms)
    except ValueError as error:
        raise CommandError(f"--timestamp: {error}.", exit_code=ExitCode.USAGE) from None
    if not separator:
        raise CommandError("--separator must not be empty.", exit_code=ExitCode.USAGE)
    template = NewRecord(
        None,
        None if key is None else argument_bytes(key),
        tuple((name, argument_bytes(value)) for name, value in named),
        partition,
        timestamp_ms,
    )
    return RecordReader(template, argument_bytes(separator.replace(r"\t", "\t")), now_ms)


def _parse_lines(
    lines: Iterable[bytes], parse: Callable[[bytes], NewRecord]
) -> Iterator[NewRecord]:
    for number, line in enumerate(lines, 1):
        try:
            yield parse(line.removesuffix(b"\n").removesuffix(b"\r"))
        except ValueError as error:
            raise CommandError(f"Line {number}: {error}.", exit_code=ExitCode.USAGE) from None


def _headers(value: Any) -> Headers:
    """Either an object of names and values, or what `consume --json` prints."""
    if value is None:
        return ()
    if isinstance(value, dict):
        return tuple((name, _bytes_field(value, name)) for name in value)
    if isinstance(value, list) and all(isinstance(h, dict) and "key" in h for h in value):
        return tuple((str(header["key"]), _bytes_field(header, "value")) for header in value)
    raise ValueError('headers are an object or a list such as [{"key": "a", "value": "b"}]')


def _bytes_field(fields: dict[str, Any], name: str) -> bytes | None:
    """Text as UTF-8, or what it is base64 of; anything else as the JSON that it is."""
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    encoding = fields.get(f"{name}_encoding")
    if encoding is None:
        return value.encode()
    if encoding != "base64":
        raise ValueError(f"{name}_encoding is {encoding!r}; only base64 is known")
    try:
        return b64decode(value, validate=True)
    except Base64Error:
        raise ValueError(f"{name} is not valid base64") from None


def _integer_field(
    fields: dict[str, Any], name: str, default: int | None, *, highest: int
) -> int | None:
    value = fields.get(name)
    if value is None or value == -1:
        return default
    if type(value) is not int or not 0 <= value <= highest:
        raise ValueError(f"{name} is {json.dumps(value)}, which is not a non-negative integer")
    return value
