"""The metrics and labels that an expression of Prometheus uses, and whether a node exports them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from ottla.metrics import MetricKind
from ottla.metrics.table import SECTIONS

_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_SELECTOR: Final = re.compile(r"\b((?:ottla|process|python)_\w+)(?:\{([^}]*)\})?")
_LABEL: Final = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
# Prometheus adds the first ones to everything that it scrapes; `cluster` is in the example.
_OF_TARGETS: Final = {"job", "instance", "cluster"}


def _samples() -> Iterator[tuple[str, set[str]]]:
    for family in (each for section in SECTIONS.values() for each in section):
        labels = {*family.labels, *_OF_TARGETS}
        if family.kind is MetricKind.HISTOGRAM:
            yield f"{family.name}_bucket", labels | {"le"}
            yield f"{family.name}_count", labels
            yield f"{family.name}_sum", labels
        else:
            yield family.name, labels


SAMPLES: Final[Mapping[str, set[str]]] = dict(_samples())


def unknown_names(expression: str) -> list[str]:
    """Metrics that no node exports, and labels that a metric does not have."""
    unknown = []
    for name, labels in _SELECTOR.findall(_TEXT.sub('""', expression)):
        if name not in SAMPLES:
            unknown.append(name)
        else:
            unknown += sorted(set(_LABEL.findall(labels)) - SAMPLES[name])
    return unknown


def recorded_names(expression: str) -> set[str]:
    """The recording rules that it uses."""
    return set(re.findall(r"\bottla:[\w:]+", _TEXT.sub('""', expression)))
