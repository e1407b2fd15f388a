"""Quotas as `KEY=VALUE` in options and arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.quotas.entities import LimitKey, QuotaKey

_VALUE: Final = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?) ?([a-z]*)", re.IGNORECASE)
_UNITS: Final[Mapping[str, int]] = {
    "": 1,
    "kb": 1_000,
    "mb": 1_000_000,
    "gb": 1_000_000_000,
}
_IN_BYTES: Final = (QuotaKey.PRODUCE, QuotaKey.FETCH, LimitKey.RETAINED_BYTES)
KEYS: Final = (*QuotaKey, *LimitKey)


def parse_quotas(texts: Iterable[str]) -> dict[str, float]:
    """Raises CommandError."""
    quotas = {}
    for name, text in parse_name_values(texts, what="The quota"):
        check_key(name)
        value = quota_value(name, text)
        if value is None:
            raise _usage(
                f"{name}={text} is not a number"
                + (", such as 500000 or 10MB." if name in _IN_BYTES else ".")
            )
        quotas[name] = value
    return quotas


def quota_value(key: str, text: str) -> float | None:
    """None if this is not a number, with a unit if the quota is in bytes."""
    found = _VALUE.fullmatch(text)
    unit = None if found is None else _UNITS.get(found[2].lower())
    if found is None or unit is None or (found[2] and key not in _IN_BYTES):
        return None
    return float(found[1]) * unit


def check_key(name: str) -> None:
    if name not in KEYS:
        raise _usage(f"{name} is not a quota: use {', '.join(KEYS)}.")


def _usage(message: str) -> CommandError:
    return CommandError(message, exit_code=ExitCode.USAGE)
