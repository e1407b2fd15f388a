"""What the members of a group want, as topics that there are."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from ottla.coordinator.groups.consumer.group import ResolvedRegex
from ottla.coordinator.groups.consumer.member import ConsumerMember
from ottla.metadata import MetadataImage, Topic
from ottla.model import Uuid

_SIGNED = struct.Struct(">q")
_TOPIC = struct.Struct(">16si")


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """Made for one look at the metadata."""

    # By name, those that somebody wants and that there are.
    topics: Mapping[str, Topic]
    regexes: Mapping[str, ResolvedRegex]

    @classmethod
    def of(
        cls,
        members: Iterable[ConsumerMember],
        regexes: Mapping[str, ResolvedRegex],
        image: MetadataImage,
    ) -> Subscriptions:
        names: set[str] = set()
        for member in members:
            names |= _names(member, regexes)
        known = image.topics.by_name
        return cls({name: known[name] for name in sorted(names) if name in known}, regexes)

    def topic_ids(self, member: ConsumerMember) -> frozenset[Uuid]:
        names = _names(member, self.regexes)
        return frozenset(self.topics[name].id for name in names if name in self.topics)

    @property
    def partition_counts(self) -> dict[Uuid, int]:
        return {topic.id: len(topic.partitions) for topic in self.topics.values()}

    @property
    def metadata_hash(self) -> int:
        """Another number for other topics, or for more partitions in one; 0 without any."""
        if not self.topics:
            return 0
        digest = blake2b(digest_size=8)
        for topic_id, count in sorted(self.partition_counts.items()):
            digest.update(_TOPIC.pack(topic_id, count))
        number: int = _SIGNED.unpack(digest.digest())[0]
        return number


def _names(member: ConsumerMember, regexes: Mapping[str, ResolvedRegex]) -> frozenset[str]:
    if member.regex is None or member.regex not in regexes:
        return member.topics
    return member.topics | regexes[member.regex].topics
