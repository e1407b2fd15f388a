"""A retry delay with an acknowledgement: a tagged field that only Ottla's brokers know.

A batch of acknowledgements in ShareFetch or ShareAcknowledge may have the delay of the records that
it releases. A broker that takes delays says so in each response to ShareFetch, with the longest one
that it takes; Apache Kafka's brokers and clients ignore such fields.
"""

from __future__ import annotations

import struct
from typing import Final, Protocol

# Far above the tags of Kafka, which are counted from 0 on.
_TAG: Final = 10_931
_INT32: Final = struct.Struct(">i")
RETRY_DELAY_MS_MAX: Final = 24 * 60 * 60 * 1_000


class Tagged(Protocol):
    """A part of a message, with its tagged fields that are not declared."""

    unknown_tags: dict[int, bytes] | None


def put_delay(holder: Tagged, delay_ms: int) -> None:
    """Adds a delay to a batch of acknowledgements, or the longest delay to a response."""
    holder.unknown_tags = {**(holder.unknown_tags or {}), _TAG: _INT32.pack(delay_ms)}


def delay_of(holder: Tagged) -> int | None:
    """Negative, which is never valid, if the field has another size."""
    data = None if holder.unknown_tags is None else holder.unknown_tags.get(_TAG)
    if data is None:
        return None
    if len(data) != _INT32.size:
        return -1
    delay_ms: int = _INT32.unpack(data)[0]
    return delay_ms
