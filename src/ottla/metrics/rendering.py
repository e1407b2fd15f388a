"""Metrics as text: OpenMetrics 1.0, or the text format 0.0.4 of Prometheus.

    # TYPE ottla_requests counter
    # HELP ottla_requests Requests that the node has answered.
    ottla_requests_total{api="Produce",version="13"} 17
    # EOF

Both are rendered in pieces of well under a millisecond, between which the caller may pause. A
histogram's lines always come from the same moment; different series may not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import accumulate
from math import inf
from typing import Final

from ottla.metrics.family import Distribution, Family, MetricKind, Sample
from ottla.metrics.registry import Metrics

# A sample takes about a microsecond, a histogram with its buckets ten.
_SAMPLES_PER_PIECE: Final = 32
_ESCAPED: Final = re.compile(r'[\\"\n]')
_ESCAPES: Final = {"\\": r"\\", '"': r"\"", "\n": r"\n"}


class TextFormat(Enum):
    """The values are the content types."""

    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def text_format(accept: str) -> TextFormat:
    """The format that an Accept header prefers; OpenMetrics if it does not say."""
    best, found = 0.0, TextFormat.OPENMETRICS
    for part in accept.split(","):
        kind, *parameters = (each.strip().lower() for each in part.split(";"))
        format_ = {
            "application/openmetrics-text": TextFormat.OPENMETRICS,
            "text/plain": TextFormat.PROMETHEUS,
        }.get(kind)
        quality = _quality(parameters)
        if format_ is not None and quality > best:
            best, found = quality, format_
    return found


def _quality(parameters: Iterable[str]) -> float:
    for each in parameters:
        name, _, value = each.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def render(metrics: Metrics, text_format: TextFormat) -> Iterator[str]:
    """All metrics, in pieces. An empty piece means that a source is still computing."""
    for family, source in metrics.families():
        yield _head(family, text_format)
        yield from _lines(family, source())
    if text_format is TextFormat.OPENMETRICS:
        yield "# EOF\n"


def _head(family: Family, text_format: TextFormat) -> str:
    text = family.help.replace("\\", r"\\").replace("\n", r"\n")
    if text_format is TextFormat.PROMETHEUS:
        kind = MetricKind.GAUGE if family.kind is MetricKind.INFO else family.kind
        return f"# HELP {family.name} {text}\n# TYPE {family.name} {kind.value}\n"
    name = family.base_name
    text = text.replace('"', r"\"")
    unit = f"# UNIT {name} {family.unit}\n" if family.unit else ""
    return f"# TYPE {name} {family.kind.value}\n{unit}# HELP {name} {text}\n"


def _lines(family: Family, samples: Iterable[Sample | None]) -> Iterator[str]:
    line = _line_writer(family)
    lines: list[str] = []
    for sample in samples:
        if sample is not None:
            lines.append(line(sample))
        if sample is None or len(lines) >= _SAMPLES_PER_PIECE:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)


def _line_writer(family: Family) -> Callable[[Sample], str]:
    """A function that writes one sample. Looks up once what is the same for all of them."""
    if family.kind is MetricKind.HISTOGRAM:
        return _histogram_writer(family)
    names = ",".join(f'{label}="%s"' for label in family.labels)
    template = f"{family.name}{{{names}}} %s\n" if names else f"{family.name} %s\n"

    def write(sample: Sample) -> str:
        labels, value = sample
        assert not isinstance(value, Distribution)
        return template % (*_escaped(labels), value if type(value) is int else _number(value))

    return write


def _histogram_writer(family: Family) -> Callable[[Sample], str]:
    name = family.name
    bounds = [repr(float(bound)) for bound in family.bounds] + ["+Inf"]

    def write(sample: Sample) -> str:
        labels, value = sample
        assert isinstance(value, Distribution)
        pairs = zip(family.labels, _escaped(labels), strict=True)
        shown = ",".join(f'{label}="{text}"' for label, text in pairs)
        before = f"{shown}," if shown else ""
        counts = list(accumulate(value.counts))
        lines = [
            f'{name}_bucket{{{before}le="{bound}"}} {count}\n'
            for bound, count in zip(bounds, counts, strict=True)
        ]
        braces = f"{{{shown}}}" if shown else ""
        lines.append(f"{name}_count{braces} {counts[-1]}\n")
        lines.append(f"{name}_sum{braces} {_number(value.total)}\n")
        return "".join(lines)

    return write


def _escaped(labels: Sequence[str]) -> Sequence[str]:
    if _ESCAPED.search("".join(labels)) is None:
        return labels
    return [_ESCAPED.sub(lambda found: _ESCAPES[found.group()], each) for each in labels]


def _number(value: float) -> str:
    if value in (inf, -inf):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if value != value else repr(float(value))
