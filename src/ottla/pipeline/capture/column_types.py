"""PostgreSQL's types as Spark's, and columns of their texts as Arrow arrays.

Values come as PostgreSQL writes them with ISO dates, hexadecimal `bytea` and the time zone UTC.
Types that Spark does not have stay texts: `uuid`, `json`, arrays, enumerations and others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ottla.pipeline.capture.errors import CaptureError

# Spark has decimals of 38 digits.
_DIGITS_MAX: Final = 38


class TableColumn(NamedTuple):
    """A column as the catalog describes it; `type_modifier` has the digits of a `numeric`."""

    name: str
    type_name: str
    type_modifier: int

    @property
    def spark_type(self) -> str:
        if self.type_name == "numeric" and (digits := self._digits) is not None:
            return f"decimal({digits[0]},{digits[1]})"
        return _SPARK_TYPES.get(self.type_name, "string")

    @property
    def arrow_type(self) -> pa.DataType:
        if self.type_name == "numeric" and (digits := self._digits) is not None:
            return pa.decimal128(*digits)
        return _ARROW_TYPES.get(self.type_name, pa.string)()

    @property
    def _digits(self) -> tuple[int, int] | None:
        """Precision and scale; None if Spark has no decimal for them, as without a precision."""
        if self.type_modifier < 0:
            return None
        packed = self.type_modifier - 4
        # The scale is signed, in 11 bits.
        precision, scale = packed >> 16 & 0xFFFF, ((packed & 0x7FF) ^ 1024) - 1024
        return (precision, scale) if 0 <= scale <= precision <= _DIGITS_MAX else None

    def array(self, texts: Sequence[bytes | None]) -> pa.Array:
        """Raises CaptureError for values that the type cannot have."""
        kind = self.arrow_type
        found = pa.array(texts, pa.binary())
        try:
            if pa.types.is_binary(kind):
                return pa.array([None if each is None else _unhexed(each) for each in texts], kind)
            text = found.cast(pa.string())
            if pa.types.is_boolean(kind):
                return pc.equal(text, "t")
            return text.cast(kind)
        except (pa.ArrowException, ValueError) as error:
            raise CaptureError(
                f"column {self.name} has a value that Spark's {self.spark_type} cannot have "
                f"({error}): read the column as text, with texts=({self.name!r},)"
            ) from None


def _unhexed(text: bytes) -> bytes:
    if text[:2] != b"\\x":
        raise ValueError("bytea without \\x")
    return bytes.fromhex(text[2:].decode())


_SPARK_TYPES: Final[dict[str, str]] = {
    "bool": "boolean",
    "bytea": "binary",
    "date": "date",
    "float4": "float",
    "float8": "double",
    "int2": "smallint",
    "int4": "int",
    "int8": "bigint",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
}
_ARROW_TYPES: Final[dict[str, Callable[[], Any]]] = {
    "bool": pa.bool_,
    "bytea": pa.binary,
    "date": pa.date32,
    "float4": pa.float32,
    "float8": pa.float64,
    "int2": pa.int16,
    "int4": pa.int32,
    "int8": pa.int64,
    "timestamp": lambda: pa.timestamp("us"),
    "timestamptz": lambda: pa.timestamp("us", "UTC"),
}
