"""Pipelines: the process of `ottla run` exports them."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge

BATCH_ID: Final = gauge("ottla_pipeline_batch_id", "Id of the last completed batch.", "query")
ROWS: Final = counter("ottla_pipeline_rows_total", "Rows read since the pipeline started.", "query")
ROWS_PER_SECOND: Final = gauge(
    "ottla_pipeline_rows_per_second", "Rows per second that the last batch processed.", "query"
)
BATCH_SECONDS: Final = gauge(
    "ottla_pipeline_batch_seconds", "How long the last batch took.", "query"
)
PIPELINE_LAG: Final = gauge(
    "ottla_pipeline_lag_records", "Records in the topics that the query has not read yet.", "query"
)
STATE_ROWS: Final = gauge(
    "ottla_pipeline_state_rows", "Rows in the state of aggregations and joins.", "query"
)
WATERMARK: Final = gauge(
    "ottla_pipeline_watermark_seconds",
    "Watermark: event time before which rows are late.",
    "query",
)

PIPELINE_FAMILIES: Final = (
    BATCH_ID,
    ROWS,
    ROWS_PER_SECOND,
    BATCH_SECONDS,
    PIPELINE_LAG,
    STATE_ROWS,
    WATERMARK,
)
