"""The version in which a record is written, so that every node of the cluster can read it.

It depends on the finalized `metadata.version`; a BrokerRegistrationChangeRecord has the lowest
version that has the fields it needs, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.brokers import (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
)
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord, PartitionRecord

# Levels of metadata.version, by what they introduced.
_ZK_MIGRATION: Final = 8
_LOG_DIRECTORIES: Final = 17
_ELIGIBLE_LEADER_REPLICAS: Final = 23
_CORDONED_LOG_DIRECTORIES: Final = 30


def record_version(record: Message, metadata_version: int) -> int:
    rule = _RULES.get(type(record))
    return 0 if rule is None else rule(record, metadata_version)


def _partition_version(_record: Message, metadata_version: int) -> int:
    return (metadata_version >= _LOG_DIRECTORIES) + (metadata_version >= _ELIGIBLE_LEADER_REPLICAS)


def _registration_version(_record: Message, metadata_version: int) -> int:
    levels = (_ZK_MIGRATION, _LOG_DIRECTORIES, _CORDONED_LOG_DIRECTORIES)
    return 1 + sum(metadata_version >= level for level in levels)


def _registration_change_version(
    record: BrokerRegistrationChangeRecord, _metadata_version: int
) -> int:
    if record.cordoned_log_dirs is not None:
        return 3
    if record.log_dirs:
        return 2
    return 1 if record.in_controlled_shutdown else 0


_RULES: Final[dict[type[Message], Callable[[Any, int], int]]] = {
    PartitionRecord: _partition_version,
    PartitionChangeRecord: _partition_version,
    RegisterBrokerRecord: _registration_version,
    BrokerRegistrationChangeRecord: _registration_change_version,
}
