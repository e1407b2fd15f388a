"""Packs and unpacks arrays of fixed-size values in one call.

Arrays such as replica lists and partition indexes are short and frequent, so the layouts of short
arrays are precomputed and found by length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from struct import Struct as Layout
from typing import Any

from ottla.model import Buffer
from ottla.wire.varint import encode_uvarint

SHORT = 64


@cache
def short_packers(code: str, *, compact: bool) -> tuple[Callable[..., bytes], ...]:
    """Functions by element count that pack the length prefix and the elements."""
    prefix = "B" if compact else "i"
    return tuple(Layout(">" + prefix + code * count).pack for count in range(SHORT))


@cache
def short_unpackers(code: str) -> tuple[Callable[[Buffer, int], tuple[Any, ...]], ...]:
    """Functions by element count that unpack the elements."""
    return tuple(Layout(">" + code * count).unpack_from for count in range(SHORT))


def pack_long(code: str, values: Sequence[Any], *, compact: bool) -> bytes:
    count = len(values)
    prefix = encode_uvarint(count + 1) if compact else Layout(">i").pack(count)
    return prefix + _layout(code, count).pack(*values)


def unpack_long(code: str, count: int, buffer: Buffer, position: int) -> tuple[Any, ...]:
    return _layout(code, count).unpack_from(buffer, position)


def _layout(code: str, count: int) -> Layout:
    # "16s" repeated by a count would mean one long string, so its code is written out instead.
    return Layout(">" + code * count if code.endswith("s") else f">{count}{code}")
