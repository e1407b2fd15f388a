"""How much is measured of clusters: enough for a glance, or enough for the history."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.versus import scale
from benchmarks.versus.scale import Scale


@dataclass(frozen=True, slots=True)
class Amount:
    # Of starts, of the load and of idling: as much as of one server.
    scale: Scale
    # Rounds of each fault on each side, of which the median and the worst are reported.
    faults: int
    # Of a node that is paused: most of a round is the client's patience, a minute of it.
    pauses: int
    # Partitions of three replicas each, spread over so many topics.
    topics: int
    partitions: int


QUICK = Amount(scale.QUICK, faults=1, pauses=0, topics=6, partitions=600)
FULL = Amount(scale.FULL, faults=5, pauses=3, topics=100, partitions=10_000)
