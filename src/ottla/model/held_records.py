"""What a partition with delayed delivery holds, for Ottla's commands: Kafka has no request for it.

A DescribeProducers request with the tagged field `HELD_TAG` asks for it; each partition in the
response has it in the same tag, as JSON. Other clients and brokers skip the tag.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

# Far above the numbers that Kafka gives its tagged fields.
HELD_TAG: Final = 10_001


class HeldRecords(NamedTuple):
    """Of one partition, as its leader knows it."""

    records: int
    size: int
    # None if nothing is held.
    next_due_ms: int | None
    # Whether the leader is still reading its log, so that there may be more.
    is_loading: bool


def encode_held(held: HeldRecords) -> bytes:
    return json.dumps(held).encode()


def decode_held(data: bytes) -> HeldRecords:
    return HeldRecords(*json.loads(data))
