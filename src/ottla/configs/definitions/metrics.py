"""Metrics, telemetry, the format of log lines, and config providers."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    CLUSTER_WIDE,
    LOW,
    int32,
    int64,
    password,
    string,
    strings,
    without_effect,
)
from ottla.configs.status import NO_CONFIG_PROVIDERS
from ottla.configs.validators import at_least, list_of, one_of

METRICS_CONFIGS: Final = (
    string("ottla.log.format", "text", one_of("text", "json"), LOW),
    strings("config.providers", (), list_of(), LOW, CLUSTER_WIDE, NO_CONFIG_PROVIDERS),
    string("ottla.metrics.listener", ""),
    string("ottla.metrics.otlp.endpoint", ""),
    password("ottla.metrics.otlp.headers"),
    int32("ottla.metrics.otlp.interval.ms", 60_000, at_least(1_000)),
    int32("ottla.client.metrics.series.max", 10_000, at_least(0), LOW),
    int32("telemetry.max.bytes", 1_048_576, at_least(1), LOW),
    *without_effect(
        int32("kafka.metrics.polling.interval.secs", 10, at_least(1), LOW),
        strings("kafka.metrics.reporters", (), list_of(), LOW),
        strings(
            "metric.reporters",
            ("org.apache.kafka.common.metrics.JmxReporter",),
            list_of(),
            LOW,
            CLUSTER_WIDE,
        ),
        int32("metrics.num.samples", 2, at_least(1), LOW),
        string("metrics.recording.level", "INFO", LOW),
        int64("metrics.sample.window.ms", 30_000, at_least(1), LOW),
    ),
)
