"""Quotas as people read them: for whom, and how much."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.cli.display.cells import size
from ottla.quotas.entities import LimitKey, QuotaKey


def quota_text(key: str, value: float) -> str:
    if key in (QuotaKey.PRODUCE, QuotaKey.FETCH):
        return f"{size(value)}/s"
    if key == QuotaKey.REQUEST:
        return f"{value:.4g} %"
    if key == LimitKey.RETAINED_BYTES:
        return size(value)
    if key in list(LimitKey):
        return f"{value:,.0f} {key.removesuffix('_max')}"
    unit = "connections" if key == QuotaKey.CONNECTION else "partitions"
    return f"{value:.4g} {unit}/s"


def entity_text(entity: Iterable[tuple[str, str | None]]) -> str:
    """`user alice, client-id app`, with the user first."""
    parts = sorted(entity, key=lambda part: part[0], reverse=True)
    return ", ".join(
        f"default {kind}" if name is None else f"{kind} {name}" for kind, name in parts
    )
