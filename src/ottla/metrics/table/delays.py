"""Delayed delivery."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge, histogram

DELAYED_RECORDS: Final = gauge(
    "ottla_delayed_records",
    "Records that are held until they are due, by topic. Exported by the partitions' leaders.",
    "topic",
)
DELAYED_BYTES: Final = gauge(
    "ottla_delayed_bytes",
    "Bytes of records that are held until they are due, by topic. Exported by the partitions' "
    "leaders.",
    "topic",
)
DELAYED_RELEASED_RECORDS: Final = counter(
    "ottla_delayed_released_records_total", "Held records that were due and were delivered."
)
DELAYED_CANCELLED_RECORDS: Final = counter(
    "ottla_delayed_cancelled_records_total",
    "Held records that were cancelled before they were due.",
)
DELAYED_LATENESS: Final = histogram(
    "ottla_delayed_lateness_seconds",
    "Time from when a held record was due until it was appended for consumers.",
)

DELAY_FAMILIES: Final = (
    DELAYED_RECORDS,
    DELAYED_BYTES,
    DELAYED_RELEASED_RECORDS,
    DELAYED_CANCELLED_RECORDS,
    DELAYED_LATENESS,
)
