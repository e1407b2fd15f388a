"""Parses and formats config values by Kafka's rules.

Kafka's rules are Java's: `trim`, `parseInt`, and the format of doubles. A text that Kafka rejects
must be rejected here too, so that a properties file works with both or neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Final, TypeAlias


class ConfigType(IntEnum):
    """The types, with their codes in DescribeConfigs."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Password:
    """A secret. Only `value` reveals it, `repr` does not."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "[hidden]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


# A Java class is kept as its name, because it cannot be loaded.
ConfigValue: TypeAlias = bool | int | float | str | tuple[str, ...] | Password | None
ConfigValues: TypeAlias = Mapping[str, ConfigValue]

# Java's `trim` treats every control character as white space.
_WHITE_SPACE: Final = "".join(map(chr, range(0x21)))
_COMMA: Final = re.compile(r"\s*,\s*", re.ASCII)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(
    r"(?P<number>[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?Infinity)[fFdD]?"
)
# More digits than any valid number has; longer texts would be slow to parse.
_DIGITS_MAX: Final = 64


def parse_value(config_type: ConfigType, text: str) -> ConfigValue:
    """Raises a ValueError that describes valid texts."""
    return _PARSERS[config_type](text.strip(_WHITE_SPACE))


def format_value(value: ConfigValue) -> str | None:
    """Formats the value as in Kafka's responses; None for a secret."""
    if value is None or isinstance(value, Password):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _format_double(value)
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value)


def _parse_boolean(text: str) -> bool:
    lowered = text.lower()
    if lowered not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return lowered == "true"


def _integer_parser(name: str, *, bits: int) -> Callable[[str], int]:
    limit = 1 << (bits - 1)

    def parse(text: str) -> int:
        if len(text) <= _DIGITS_MAX and _INTEGER.fullmatch(text):
            number = int(text)
            if -limit <= number < limit:
                return number
        raise ValueError(f"Not a number of type {name}, which is from {-limit} to {limit - 1}")

    return parse


def _parse_double(text: str) -> float:
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError("Not a number of type DOUBLE")
    return float(match["number"])


def _parse_list(text: str) -> tuple[str, ...]:
    return tuple(_COMMA.split(text)) if text else ()


def _format_double(value: float) -> str:
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    # Python and Java find the same shortest digits, but format them differently.
    sign, digits, exponent = _scientific(repr(value))
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _scientific(shortest: str) -> tuple[str, str, int]:
    """The sign, the digits and the exponent of the first of them."""
    sign = "-" if shortest.startswith("-") else ""
    mantissa, _, exponent = shortest.removeprefix("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    return sign, digits.rstrip("0"), int(exponent or 0) + len(whole) - 1 - leading_zeros


_PARSERS: Final[Mapping[ConfigType, Callable[[str], ConfigValue]]] = {
    ConfigType.BOOLEAN: _parse_boolean,
    ConfigType.STRING: str,
    ConfigType.INT: _integer_parser("INT", bits=32),
    ConfigType.SHORT: _integer_parser("SHORT", bits=16),
    ConfigType.LONG: _integer_parser("LONG", bits=64),
    ConfigType.DOUBLE: _parse_double,
    ConfigType.LIST: _parse_list,
    ConfigType.CLASS: str,
    ConfigType.PASSWORD: Password,
}
