"""The options of `ottla quotas` that name an entity, and its quotas as `KEY=VALUE`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.quotas.entities import CLIENT_ID, IP, USER, QuotaEntity, QuotaKey

_VALUE: Final = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]*)", re.IGNORECASE)
_UNITS: Final[Mapping[str, int]] = {
    "": 1,
    "kb": 1_000,
    "mb": 1_000_000,
    "gb": 1_000_000_000,
}
_BYTE_RATES: Final = (QuotaKey.PRODUCE, QuotaKey.FETCH)


@dataclass(frozen=True, slots=True)
class EntityOptions:
    """Type and name of each part; no name means the default."""

    entity: QuotaEntity

    @classmethod
    def of(
        cls,
        user: str | None,
        client_id: str | None,
        ip: str | None,
        default_user: bool,
        default_client_id: bool,
        default_ip: bool,
        *,
        is_filter: bool = False,
    ) -> EntityOptions:
        """Raises CommandError. Only a filter may name nothing."""
        parts = []
        for kind, name, is_default in (
            (CLIENT_ID, client_id, default_client_id),
            (IP, ip, default_ip),
            (USER, user, default_user),
        ):
            if name is not None and is_default:
                raise _usage(f"Give --{kind} or --default-{kind}, not both.")
            if name is not None or is_default:
                parts.append((kind, name))
        kinds = [kind for kind, _ in parts]
        if IP in kinds and len(kinds) > 1:
            raise _usage("A quota of an address cannot name a user or a client id.")
        if not parts and not is_filter:
            raise _usage(
                "Say for whom: --user, --client-id, both, --ip, or one of the defaults, such as "
                "--default-user."
            )
        return cls(tuple(parts))

    @property
    def text(self) -> str:
        return entity_text(self.entity)


def entity_text(entity: Iterable[tuple[str, str | None]]) -> str:
    """`user alice, client-id app`, with the user first."""
    parts = sorted(entity, key=lambda part: part[0], reverse=True)
    return ", ".join(
        f"default {kind}" if name is None else f"{kind} {name}" for kind, name in parts
    )


def parse_quotas(texts: Iterable[str]) -> dict[str, float]:
    """Raises CommandError."""
    quotas = {}
    for name, text in parse_name_values(texts, what="The quota"):
        check_key(name)
        found = _VALUE.fullmatch(text)
        unit = None if found is None else _UNITS.get(found[2].lower())
        if found is None or unit is None or (found[2] and name not in _BYTE_RATES):
            raise _usage(
                f"{name}={text} is not a number"
                + (", such as 500000 or 10MB." if name in _BYTE_RATES else ".")
            )
        quotas[name] = float(found[1]) * unit
    return quotas


def check_key(name: str) -> None:
    if name not in list(QuotaKey):
        raise _usage(f"{name} is not a quota: use {', '.join(QuotaKey)}.")


def _usage(message: str) -> CommandError:
    return CommandError(message, exit_code=ExitCode.USAGE)
