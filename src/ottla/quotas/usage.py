"""What clients with a quota use on a node, for Ottla's commands: Kafka has no request for it.

A DescribeClientQuotas request with the tagged field `USAGE_TAG` asks for it; the response has it in
the same tag, as JSON. Other clients and brokers skip the tag.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, NamedTuple

# Far above the numbers that Kafka gives its tagged fields.
USAGE_TAG: Final = 10_000


class QuotaUsage(NamedTuple):
    """An empty user or client id means that the quota is for any."""

    key: str
    user: str
    client_id: str
    used: float
    limit: float
    # Of all requests since the meter exists.
    throttled_ms: int


def encode_usage(usage: Iterable[QuotaUsage]) -> bytes:
    return json.dumps([tuple(each) for each in usage]).encode()


def decode_usage(data: bytes) -> list[QuotaUsage]:
    return [QuotaUsage(*each) for each in json.loads(data)]
