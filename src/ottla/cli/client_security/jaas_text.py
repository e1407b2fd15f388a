"""Writes `sasl.jaas.config` for a user name and a password."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_PACKAGE: Final = "org.apache.kafka.common.security"
PLAIN_MODULE: Final = f"{_PACKAGE}.plain.PlainLoginModule"
SCRAM_MODULE: Final = f"{_PACKAGE}.scram.ScramLoginModule"
_SPECIAL: Final = re.compile(r'["\\]')


def jaas_text(module: str, options: Mapping[str, str]) -> str:
    """The values have no control characters."""
    quoted = (f'{name}="{_SPECIAL.sub(_escaped, value)}"' for name, value in options.items())
    return f"{module} required {' '.join(quoted)};"


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match.group()}"
