"""Topics that are deleted, restored and purged."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.simulation.history.history import Event


@dataclass(frozen=True, slots=True)
class TopicUndeleted(Event):
    """A deleted topic was restored."""

    topic: str


@dataclass(frozen=True, slots=True)
class UndeleteRefused(Event):
    """A topic that was deleted, and not purged, could not be restored before its time was over."""

    topic: str
    error: str


@dataclass(frozen=True, slots=True)
class DirectoryLeft(Event):
    """At the end, a node had a partition's directory of a topic that the metadata does not have."""

    directory: str
