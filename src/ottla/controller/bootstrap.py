"""The bootstrap records: written when a directory is formatted, read by the first controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ottla.configs.resource import BROKERS_DEFAULT
from ottla.controller.snapshot_file import BOOTSTRAP_SNAPSHOT, Snapshot, read_snapshot
from ottla.metadata.features import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    INITIAL_LEVELS,
    METADATA_VERSION,
)
from ottla.runtime.disk import Disk
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from ottla.wire.stored.cluster_metadata.features import FeatureLevelRecord
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord
from ottla.wire.stored.cluster_metadata.transactions import (
    BeginTransactionRecord,
    EndTransactionRecord,
)

FILE_NAME: Final = "bootstrap.checkpoint"


def bootstrap_snapshot(
    disk: Disk,
    directory: str,
    *,
    users: Sequence[UserScramCredentialRecord] = (),
    now_ms: int,
) -> Snapshot:
    """The file `bootstrap.checkpoint` that Kafka writes into a directory when it formats it."""
    return Snapshot(
        disk=disk,
        path=f"{directory}/{FILE_NAME}",
        id=BOOTSTRAP_SNAPSHOT,
        records=(*_initial_levels(), *users),
        metadata_version=INITIAL_LEVELS[METADATA_VERSION],
        voters=None,
        last_contained_log_timestamp=0,
        now_ms=now_ms,
    )


def read_bootstrap_records(disk: Disk, directory: str) -> tuple[Message, ...]:
    path = f"{directory}/{FILE_NAME}"
    if not disk.exists(path):
        return _initial_levels()
    batches = [batch for batch in read_snapshot(disk, path) if not batch.header.is_control]
    return tuple(record for batch in batches for record in batch.records)


def first_records(bootstrap: tuple[Message, ...], *, min_insync_replicas: int) -> list[Message]:
    """What the first controller writes into an empty log.

    Eligible leader replicas need one min.insync.replicas for all brokers (KIP-966), so it is set as
    a cluster config.
    """
    records: list[Message] = [BeginTransactionRecord(name="Bootstrap records"), *bootstrap]
    if any(_enables_eligible_leader_replicas(record) for record in bootstrap):
        records.append(
            ConfigRecord(
                resource_type=BROKERS_DEFAULT.type,
                resource_name=BROKERS_DEFAULT.name,
                name="min.insync.replicas",
                value=str(min_insync_replicas),
            )
        )
    return [*records, EndTransactionRecord()]


def _initial_levels() -> tuple[Message, ...]:
    return tuple(
        FeatureLevelRecord(name=name, feature_level=level) for name, level in INITIAL_LEVELS.items()
    )


def _enables_eligible_leader_replicas(record: Message) -> bool:
    return (
        isinstance(record, FeatureLevelRecord)
        and record.name == ELIGIBLE_LEADER_REPLICAS_VERSION
        and record.feature_level > 0
    )
