"""Assign partitions to the members of a group.

The coordinator assigns those of the consumer protocol (KIP-848), by topic id; one of the members
those of the classic protocol."""

from typing import Final

from ottla.assignors.assignor import Assignor, Steps, Subscriber, TopicIdPartition, finish
from ottla.assignors.range_assignor import assign_ranges
from ottla.assignors.uniform_assignor import assign_uniformly

ASSIGNORS: Final[dict[str, Assignor]] = {"uniform": assign_uniformly, "range": assign_ranges}

__all__ = ["ASSIGNORS", "Assignor", "Steps", "Subscriber", "TopicIdPartition", "finish"]
