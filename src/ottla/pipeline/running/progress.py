"""The progress of a query, from Spark's JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class QueryProgress:
    """The progress after a batch, or of a query that waits for new records."""

    query: str
    batch_id: int
    rows: int
    rows_per_second: float
    batch_ms: int
    # Records that the cluster had and the query had not read when the batch ended.
    lag: int | None
    state_rows: int
    watermark: str | None
    # When the batch began.
    timestamp: str = ""


def to_progress(query: str, given: str) -> QueryProgress:
    """Parses Spark's progress JSON."""
    fields: dict[str, Any] = json.loads(given)
    lags = [lag for each in fields.get("sources", ()) if (lag := _lag(each)) is not None]
    return QueryProgress(
        query=query,
        batch_id=fields["batchId"],
        rows=fields.get("numInputRows", 0),
        rows_per_second=fields.get("processedRowsPerSecond", 0.0),
        batch_ms=fields.get("batchDuration", 0),
        lag=sum(lags) if lags else None,
        state_rows=sum(each["numRowsTotal"] for each in fields.get("stateOperators", ())),
        watermark=fields.get("eventTime", {}).get("watermark"),
        timestamp=fields.get("timestamp", ""),
    )


def _lag(source: Mapping[str, Any]) -> int | None:
    ends, latest = _offsets(source.get("endOffset")), _offsets(source.get("latestOffset"))
    if ends is None or latest is None:
        return None
    return sum(
        max(0, offset - ends.get(topic, {}).get(partition, 0))
        for topic, partitions in latest.items()
        for partition, offset in partitions.items()
    )


def _offsets(found: Any) -> dict[str, dict[str, int]] | None:
    """None if the offsets are not those of topics: file sources have another format."""
    if isinstance(found, dict) and all(isinstance(each, dict) for each in found.values()):
        return found
    return None
