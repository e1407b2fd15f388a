"""A reader of a node's metrics and health pages, as Prometheus and Kubernetes are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Final, NamedTuple

_SECONDS_MAX: Final = 30.0
_SAMPLE: Final = re.compile(r"(?P<name>\w+)(\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL: Final = re.compile(r'(?P<name>\w+)="(?P<value>(?:[^"\\]|\\.)*)"')


class Page(NamedTuple):
    status: int
    text: str


def get(address: tuple[str, int], path: str, *, accept: str = "") -> Page:
    """Raises OSError if there is no answer."""
    connection = HTTPConnection(*address, timeout=_SECONDS_MAX)
    try:
        connection.request("GET", path, headers={"Accept": accept} if accept else {})
        response = connection.getresponse()
        return Page(response.status, response.read().decode())
    except HTTPException as error:
        raise ConnectionResetError(str(error)) from error
    finally:
        connection.close()


class Scrape:
    """The samples of one request for metrics."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._samples: dict[str, dict[frozenset[tuple[str, str]], float]] = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                found = _SAMPLE.fullmatch(line)
                assert found is not None, line
                labels = frozenset(
                    (each["name"], each["value"]) for each in _LABEL.finditer(found["labels"] or "")
                )
                series = self._samples.setdefault(found["name"], {})
                assert labels not in series, f"twice: {line}"
                series[labels] = float(found["value"])

    @classmethod
    def of(cls, address: tuple[str, int]) -> Scrape:
        status, text = get(address, "/metrics")
        assert status == 200, text
        return cls(text)

    @property
    def names(self) -> set[str]:
        """The names of the samples, with the suffixes of histograms."""
        return set(self._samples)

    @property
    def series_count(self) -> int:
        return sum(map(len, self._samples.values()))

    def value(self, name: str, **labels: str) -> float:
        """The one sample with these labels, or 0 if there is none."""
        return self._samples.get(name, {}).get(frozenset(labels.items()), 0.0)

    def total(self, name: str, **labels: str) -> float:
        """The sum of the samples with these labels among theirs."""
        wanted = labels.items()
        series = self._samples.get(name, {})
        return sum(value for key, value in series.items() if wanted <= set(key))

    def by_labels(self, name: str, *labels: str) -> Mapping[tuple[str, ...], float]:
        """The samples by the values of their labels."""
        found = {}
        for key, value in self._samples.get(name, {}).items():
            values = dict(key)
            found[tuple(values[label] for label in labels)] = value
        return found
