"""Metrics: what is counted, under which name, and how it is written for Prometheus.

`table` declares every metric once: name, kind, labels, meaning and Kafka's MBean. `Metrics` has the
values of one node; `render` writes them as text. To add a metric, declare it in `table`, then count
it with `Metrics.counter`, `gauge` or `histogram`, or read it from the state that has it anyway with
`Metrics.measure`. A metric that is in the table and is not exported fails a test.
"""

from ottla.metrics.family import Distribution, Family, MetricKind, Sample, Source
from ottla.metrics.registry import Counter, Gauge, Histogram, Metrics
from ottla.metrics.rendering import TextFormat, render

__all__ = [
    "Counter",
    "Distribution",
    "Family",
    "Gauge",
    "Histogram",
    "MetricKind",
    "Metrics",
    "Sample",
    "Source",
    "TextFormat",
    "render",
]
