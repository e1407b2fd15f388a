"""The samples of a metrics page, parsed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

_SAMPLE: Final = re.compile(
    r"(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)(?: .*)?"
)
_LABEL: Final = re.compile(r'(?P<name>\w+)="(?P<value>(?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"n": "\n"}

Labels: TypeAlias = Mapping[str, str]


class Samples:
    """The samples of one page, by their names. A line that is not a sample is ignored."""

    def __init__(self, text: str) -> None:
        self._by_name: defaultdict[str, list[tuple[Labels, float]]] = defaultdict(list)
        for line in text.splitlines():
            found = None if line.startswith("#") else _SAMPLE.fullmatch(line)
            value = None if found is None else _number(found["value"])
            if found is not None and value is not None:
                self._by_name[found["name"]].append((_labels(found["labels"] or ""), value))

    def of(self, name: str, **labels: str) -> Iterator[tuple[Labels, float]]:
        """Those with these labels among theirs."""
        for found, value in self._by_name.get(name, ()):
            if all(found.get(key) == text for key, text in labels.items()):
                yield found, value

    def value(self, name: str) -> float | None:
        """Of a metric without labels; None if it is not on the page."""
        return next((value for _, value in self.of(name)), None)

    def total(self, name: str, **labels: str) -> float:
        return sum(value for _, value in self.of(name, **labels))

    def totals(self, name: str, label: str) -> dict[str, float]:
        """By the value of a label."""
        totals: defaultdict[str, float] = defaultdict(float)
        for labels, value in self.of(name):
            totals[labels.get(label, "")] += value
        return dict(totals)

    def buckets(self, name: str, **labels: str) -> dict[float, float]:
        """The cumulative counts of a histogram by upper bound, of all its series together."""
        counts: defaultdict[float, float] = defaultdict(float)
        for found, value in self.of(f"{name}_bucket", **labels):
            bound = _number(found.get("le", ""))
            if bound is not None:
                counts[bound] += value
        return dict(sorted(counts.items()))


def _labels(text: str) -> Labels:
    return {
        found["name"]: _ESCAPE.sub(lambda each: _ESCAPES.get(each[1], each[1]), found["value"])
        for found in _LABEL.finditer(text)
    }


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
