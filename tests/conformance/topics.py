"""Topics that tests make for themselves, and what the node has stored of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.header import BatchHeader
from tests.support.nodes.nodes import RunningNode


@dataclass(slots=True)
class Topics:
    """Makes topics with names that no other test has."""

    admin: AdminClient
    node: RunningNode
    test: str
    made: int = 0

    def create(self, partitions: int = 1, **configs: str) -> str:
        """A new topic's name. Configs are written with underscores for dots."""
        topic = self.name()
        dotted = {name.replace("_", "."): value for name, value in configs.items()}
        self.admin.create_topics([NewTopic(topic, partitions, config=dotted)])[topic].result()
        return topic

    def name(self) -> str:
        """A name that no topic has yet."""
        self.made += 1
        return re.sub(r"[^a-zA-Z0-9.-]+", "-", f"{self.test}-{self.made}")

    def stored(self, topic: str, partition: int = 0) -> list[BatchHeader]:
        """The headers of all batches in a partition's files."""
        folder = self.node.data_directory / f"{topic}-{partition}"
        return [header for path in sorted(folder.glob("*.log")) for header in _headers(path)]


def _headers(path: Path) -> list[BatchHeader]:
    return [header for _, header in iterate_batches(path.read_bytes(), strict=True)]
