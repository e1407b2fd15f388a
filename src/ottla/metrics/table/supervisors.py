"""Supervisors of pipelines: `ottla pipelines serve` exports them."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge

SUPERVISED: Final = gauge(
    "ottla_supervisor_pipelines", "Pipelines that this supervisor owns, by state.", "state"
)
SUPERVISED_SHARDS: Final = gauge(
    "ottla_supervisor_shards", "Partitions of the supervisors' topic that this supervisor owns."
)
SUPERVISED_FAILURES: Final = gauge(
    "ottla_supervisor_failures",
    "Failures of a pipeline since it last ran for two minutes.",
    "pipeline",
)
SUPERVISED_ROWS: Final = counter(
    "ottla_supervisor_rows_total", "Rows read since the process started.", "pipeline", "query"
)
SUPERVISED_LAG: Final = gauge(
    "ottla_supervisor_lag_records",
    "Records in the topics that the query has not read yet.",
    "pipeline",
    "query",
)

SUPERVISOR_FAMILIES: Final = (
    SUPERVISED,
    SUPERVISED_SHARDS,
    SUPERVISED_FAILURES,
    SUPERVISED_ROWS,
    SUPERVISED_LAG,
)
