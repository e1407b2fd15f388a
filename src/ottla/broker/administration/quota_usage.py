"""What clients with a quota use on a node, for Ottla's commands: Kafka has no request for it.

Sent as a tagged field of a DescribeClientQuotas response, which other clients skip, as a list of
JSON objects.
"""

from __future__ import annotations

import json
from typing import Final

from ottla.broker.quotas.client_quotas import ClientQuotas

# Far above the numbers that Kafka gives its tagged fields.
USAGE_TAG: Final = 10_000


def encoded_usage(quotas: ClientQuotas) -> bytes:
    now_ms = quotas.now_ms()
    return json.dumps(
        [
            {
                "key": key,
                "user": metered.user,
                "client-id": metered.client_id,
                "used": meter.usage(now_ms),
                "limit": meter.limit,
            }
            for key, metered, meter in quotas.usage()
        ]
    ).encode()
