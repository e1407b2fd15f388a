"""What a member of a group wants to read."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ottla.client.cluster import ClusterMetadata


class TopicPattern(Protocol):
    """A compiled regular expression, of `re` or of any other engine."""

    def fullmatch(self, string: str, /) -> object:
        """Something true if all of the string matches."""


class GroupSubscription(NamedTuple):
    """Topics by name; or those that match `pattern`, found by this client; or those that match
    `broker_regex`, found by the coordinator (consumer protocol only)."""

    topics: frozenset[str] = frozenset()
    pattern: TopicPattern | None = None
    broker_regex: str | None = None
    includes_internal: bool = False

    def resolve(self, metadata: ClusterMetadata) -> frozenset[str]:
        """The topics to subscribe to now."""
        if self.pattern is None:
            return self.topics
        return frozenset(
            topic.name
            for topic in metadata.topics.values()
            if self.pattern.fullmatch(topic.name)
            and (self.includes_internal or not topic.is_internal)
        )
