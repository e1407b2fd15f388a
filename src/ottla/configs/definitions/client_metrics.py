"""Configs of a subscription to the metrics of clients (KIP-714)."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import definitions, int32, strings
from ottla.configs.validators import list_of

CLIENT_METRICS_CONFIGS: Final = definitions(
    (
        int32("interval.ms", 300_000),
        strings("match", (), list_of()),
        strings("metrics", (), list_of()),
    )
)
