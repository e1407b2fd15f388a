"""Server-side assignors of the consumer protocol (KIP-848): assign partitions to members."""

from typing import Final

from ottla.coordinator.groups.assignors.assignor import Assignor, Steps, Subscriber, finish
from ottla.coordinator.groups.assignors.range_assignor import assign_ranges
from ottla.coordinator.groups.assignors.uniform_assignor import assign_uniformly

ASSIGNORS: Final[dict[str, Assignor]] = {"uniform": assign_uniformly, "range": assign_ranges}

__all__ = ["ASSIGNORS", "Assignor", "Steps", "Subscriber", "finish"]
