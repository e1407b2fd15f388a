"""What consumers say about themselves when they join: opaque to the coordinator but for topics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ottla.wire.errors import ProtocolError
from ottla.wire.stored.consumer_protocol import ConsumerProtocolSubscription

_VERSION_BYTES: Final = 2
# Every later version begins like this one.
_COMMON_VERSION: Final = 0


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """All topics of these members; None if one of them cannot be read."""
    topics: set[str] = set()
    try:
        for each in metadata:
            subscription, _ = ConsumerProtocolSubscription.decode_from(
                each, _COMMON_VERSION, _VERSION_BYTES
            )
            topics.update(subscription.topics)
    except ProtocolError:
        return None
    return frozenset(topics)
