"""What the broker configs mean: metrics and config providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

METRICS_TEXTS: Final[Mapping[str, str]] = {
    "config.providers": (
        "Names of config providers, which replace references such as ${file:path:key} in other "
        "settings by values from outside the properties."
    ),
    "kafka.metrics.polling.interval.secs": (
        "How often the reporters in kafka.metrics.reporters read the metrics, in seconds."
    ),
    "kafka.metrics.reporters": "Java classes that report metrics of the Yammer library.",
    "metric.reporters": "Java classes that report metrics.",
    "metrics.num.samples": "Number of samples from which a metric is computed.",
    "metrics.recording.level": "Which metrics are recorded: INFO, DEBUG or TRACE.",
    "metrics.sample.window.ms": (
        "Length of each sample from which a metric is computed, in milliseconds."
    ),
    "ottla.client.metrics.series.max": (
        "Largest number of series that a broker keeps of what clients have pushed (KIP-714). "
        "Further series are left out and counted."
    ),
    "ottla.log.format": (
        "Format of the lines that the node logs: text, or json with one object for each line "
        "(time, level, logger, message, node, and exception if there is one)."
    ),
    "ottla.metrics.listener": (
        "HOST:PORT on which the node serves /metrics (OpenMetrics), /healthz and /readyz over "
        "HTTP. A port alone is on 127.0.0.1. Everyone who reaches it can read the names of topics "
        "and groups. Empty turns it off."
    ),
    "ottla.metrics.otlp.endpoint": (
        "The http: or https: URL of an OpenTelemetry collector to which the node sends its metrics "
        "with OTLP over HTTP, such as https://collector:4318; without a path it is /v1/metrics. "
        "Certificates are verified with the certificate authorities of the operating system, or "
        "those of the environment variable SSL_CERT_FILE. Empty turns it off."
    ),
    "ottla.metrics.otlp.headers": (
        "Headers of the requests to ottla.metrics.otlp.endpoint, such as "
        "Authorization=Bearer%20abc,X-Tenant=main. Characters of values can be percent-encoded; "
        "commas must be."
    ),
    "ottla.metrics.otlp.interval.ms": (
        "How often the node sends its metrics to ottla.metrics.otlp.endpoint, in milliseconds."
    ),
    "telemetry.max.bytes": (
        "Largest amount of metrics that a client may push to the broker at once, in bytes, "
        "compressed or not (KIP-714)."
    ),
}
