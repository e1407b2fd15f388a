"""What quotas are for: users, client ids, both together, and addresses (KIP-13, KIP-124, KIP-546,
KIP-599, KIP-612)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeAlias

# Type and name of each part of the entity of a quota; no name means the default of that type.
QuotaEntity: TypeAlias = tuple[tuple[str, str | None], ...]

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"
ENTITY_TYPES: Final = frozenset({USER, CLIENT_ID, IP})


class QuotaKey(StrEnum):
    """What a quota limits, by its name in requests and records."""

    PRODUCE = "producer_byte_rate"
    FETCH = "consumer_byte_rate"
    REQUEST = "request_percentage"
    MUTATION = "controller_mutation_rate"
    CONNECTION = "connection_creation_rate"


# The keys of quotas for users and client ids; addresses have CONNECTION.
CLIENT_KEYS: Final = (QuotaKey.PRODUCE, QuotaKey.FETCH, QuotaKey.REQUEST, QuotaKey.MUTATION)


class LimitKey(StrEnum):
    """What a user may have in all, by its name in requests and records. Kafka has no such limits;
    its brokers skip the keys."""

    TOPICS = "topics_max"
    PARTITIONS = "partitions_max"
    GROUPS = "groups_max"
    CONNECTIONS = "connections_max"
    RETAINED_BYTES = "retained_bytes_max"
