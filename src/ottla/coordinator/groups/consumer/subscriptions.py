"""The subscriptions of a group's members, resolved to existing topics."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from ottla.coordinator.groups.consumer.member import ConsumerMember
from ottla.coordinator.groups.consumer.resolved_regex import ResolvedRegex
from ottla.metadata import MetadataImage, TopicImage
from ottla.model import Uuid

_TOPIC: Final = struct.Struct(">16si")
_BITS: Final = 64
_CACHED_MAX: Final = 1 << 16


class Subscriptions:
    """Created for one metadata image."""

    def __init__(
        self, names: Iterable[str], regexes: Mapping[str, ResolvedRegex], image: MetadataImage
    ) -> None:
        """`names` and `regexes` are the topics and the expressions of all members."""
        known = image.topics.by_name
        subscribed = set(names).union(*(resolved.topics for resolved in regexes.values()))
        # The subscribed topics that exist, by name.
        self.topics = {name: known[name] for name in subscribed if name in known}
        self._regexes = regexes
        # Members with equal subscriptions share one set.
        self._ids: dict[tuple[frozenset[str], str | None], frozenset[Uuid]] = {}

    def topic_ids(self, member: ConsumerMember) -> frozenset[Uuid]:
        key = (member.topics, member.regex)
        found = self._ids.get(key)
        if found is None:
            names = member.topics
            if member.regex is not None and member.regex in self._regexes:
                names |= self._regexes[member.regex].topics
            found = frozenset(self.topics[name].id for name in names if name in self.topics)
            self._ids[key] = found
        return found

    @property
    def partition_counts(self) -> dict[Uuid, int]:
        return {topic.id: len(topic.partitions) for topic in self.topics.values()}

    @property
    def metadata_hash(self) -> int:
        """Differs when topics or partition counts differ; 0 without topics."""
        return topics_hash(self.topics.values())


def topics_hash(topics: Iterable[TopicImage]) -> int:
    """Differs when topics or partition counts differ; 0 without topics."""
    total = sum(_topic_hash(topic.id, len(topic.partitions)) for topic in topics)
    return (total + (1 << _BITS - 1)) % (1 << _BITS) - (1 << _BITS - 1)


@lru_cache(_CACHED_MAX)
def _topic_hash(topic_id: Uuid, partition_count: int) -> int:
    packed = _TOPIC.pack(topic_id, partition_count)
    return int.from_bytes(blake2b(packed, digest_size=_BITS // 8).digest())
