"""Values of quotas as people read them."""

from __future__ import annotations

from ottla.cli.display.cells import size
from ottla.quotas.entities import QuotaKey


def quota_text(key: str, value: float) -> str:
    if key in (QuotaKey.PRODUCE, QuotaKey.FETCH):
        return f"{size(value)}/s"
    if key == QuotaKey.REQUEST:
        return f"{value:.4g} %"
    unit = "connections" if key == QuotaKey.CONNECTION else "partitions"
    return f"{value:.4g} {unit}/s"
