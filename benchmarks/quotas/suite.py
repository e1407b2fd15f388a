"""Quotas: held rates, the clients beside a flooding one, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.figure import Figure
from benchmarks.quotas import beside_flood, costs, held_rates


def run(
    *, quick: bool, report: Callable[[str], None], note: Callable[[str], None]
) -> Iterator[Figure]:
    yield from beside_flood.run(quick=quick, report=report, note=note)
    yield from costs.run(quick=quick, report=report)
    yield from held_rates.run(quick=quick, report=report, note=note)
