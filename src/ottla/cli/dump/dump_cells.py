"""Formats single values of a dump for tables."""

from __future__ import annotations

import json
from typing import Final

from rich.text import Text

from ottla.cli.display.cells import NOTHING
from ottla.dump.plain import Plain, printable_text
from ottla.dump.rows import BatchRow, RecordRow, StoredRecord

# Longer keys and values are cut; `--json` prints them whole.
SHOWN_CHARACTERS_MAX: Final = 300

_ESCAPES: Final = str.maketrans({"\t": r"\t", "\n": r"\n", "\r": r"\r"})


def is_nothing(cell: str | Text) -> bool:
    return str(cell) in ("", NOTHING, "null")


def span(first: int | None, last: int | None) -> str:
    if first is None or first == -1:
        return NOTHING
    return str(first) if first == last else f"{first}-{last}"


def producer(row: BatchRow) -> str:
    return NOTHING if row.producer_id == -1 else f"{row.producer_id}/{row.producer_epoch}"


def flags(row: BatchRow) -> str:
    named = {
        "CORRUPT": not row.is_valid,
        "txn": row.is_transactional,
        "control": row.is_control,
        "horizon": row.delete_horizon_ms is not None,
        "append-time": row.timestamp_type == "log_append_time",
    }
    return " ".join(name for name, is_set in named.items() if is_set)


def raw(data: bytes | None) -> Text:
    """A key or value as text if it is printable, else in hexadecimal."""
    if not data:
        return Text("null" if data is None else '""', style="dim")
    text = printable_text(data[: SHOWN_CHARACTERS_MAX * 4])
    shown = f"0x{data[:SHOWN_CHARACTERS_MAX].hex()}" if text is None else text.translate(_ESCAPES)
    if len(shown) > SHOWN_CHARACTERS_MAX or len(data) > SHOWN_CHARACTERS_MAX * 4:
        return Text(f"{shown[:SHOWN_CHARACTERS_MAX]}… ({len(data):,} bytes)")
    return Text(shown)


def stored(record: StoredRecord) -> Text:
    """A decoded record: its type, then its fields by name."""
    text = Text(f"{record.type} v{record.version}", style="cyan")
    for name, value in record.fields.items():
        text.append(f" {name}=", style="dim not cyan").append(_plain(value), style="default")
    return text


def key(row: RecordRow) -> Text:
    """The key. A control record's key is its type, which `value` shows."""
    if row.control_type is not None:
        return Text(NOTHING)
    return raw(row.key) if row.key_record is None else stored(row.key_record)


def value(row: RecordRow) -> Text:
    """The value, and the headers on a line of their own."""
    if row.value_record is not None:
        text = stored(row.value_record)
    elif row.control_type is not None and row.decode_error is None:
        text = Text(row.control_type, style="cyan")
    else:
        text = raw(row.value)
    if row.control_type is not None and row.value_record is not None:
        text = Text(f"{row.control_type} ", style="magenta").append_text(text)
    if row.decode_error is not None:
        text.append(f"\ncannot be decoded: {row.decode_error}", style="red")
    for name, data in row.headers:
        text.append(f"\n{name}: ", style="dim").append_text(raw(data))
    return text


def _plain(value: Plain) -> str:
    if isinstance(value, str):
        return value or '""'
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
