"""The name of a partition and of its directory."""

from __future__ import annotations

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """A topic's name and a partition's index."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"

    @classmethod
    def from_directory_name(cls, name: str) -> TopicPartition:
        """Parses the name of a log directory, such as `orders-eu-12`."""
        topic, dash, partition = name.rpartition("-")
        if not (dash and topic and partition.isdecimal()):
            raise ValueError(f"{name!r} is not a partition's directory <topic>-<partition>")
        return cls(topic, int(partition))
