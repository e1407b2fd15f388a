"""Values of quotas as people read them."""

from __future__ import annotations

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
