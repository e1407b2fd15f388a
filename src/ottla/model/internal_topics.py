"""The names of Kafka's internal topics."""

from __future__ import annotations

from typing import Final

CONSUMER_OFFSETS: Final = "__consumer_offsets"
TRANSACTION_STATE: Final = "__transaction_state"
SHARE_GROUP_STATE: Final = "__share_group_state"
# The metadata quorum's log, which is not a topic in the metadata.
CLUSTER_METADATA: Final = "__cluster_metadata"

# Compacted topics. A key's partition depends on the topic's number of partitions.
COORDINATOR_TOPICS: Final = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE})

_INTERNAL: Final = frozenset({*COORDINATOR_TOPICS, SHARE_GROUP_STATE})
_UNWRITABLE: Final = frozenset({*_INTERNAL, CLUSTER_METADATA})


def is_internal_topic(name: str) -> bool:
    """Whether clients see the topic as internal, as they do with Apache Kafka."""
    return name in _INTERNAL


def is_writable_by_clients(name: str) -> bool:
    """Whether a producer may append to a topic of this name."""
    return name not in _UNWRITABLE
