"""The consumers' JoinGroup metadata: the coordinator decodes only the topics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ottla.wire.errors import ProtocolError
from ottla.wire.stored.consumer_protocol import ConsumerProtocolSubscription

_VERSION_BYTES: Final = 2
# Every later version starts with the fields of this one.
_COMMON_VERSION: Final = 0


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """The topics of all these members; None if a member's metadata cannot be decoded."""
    topics: set[str] = set()
    try:
        # Mostly the same for all members: a group of thousands starts its generation in one step.
        for each in set(metadata):
            subscription, _ = ConsumerProtocolSubscription.decode_from(
                each, _COMMON_VERSION, _VERSION_BYTES
            )
            topics.update(subscription.topics)
    except ProtocolError:
        return None
    return frozenset(topics)
