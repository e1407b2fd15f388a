"""Bugs in deleting, restoring and purging topics, planted one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

from ottla.broker.replicas import removed_logs
from ottla.broker.replicas.removed_logs import RemovedLogs
from ottla.controller import chores
from ottla.controller.operations import undelete_topic
from ottla.controller.operations.leadership import PartitionChanges
from ottla.metadata import MetadataImage
from ottla.simulation.claims.deletion_claims import (
    NothingIsPurgedEarly,
    PurgedTopicsAreGone,
    UndeletedTopicsAreWhole,
)
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord
from tests.support.mutants.planting import Mutant, replacing


async def _restores_nothing(_self: RemovedLogs, _replicas: Any, _deltas: Any) -> dict[Any, Any]:
    """A restored topic begins anew."""
    return {}


async def _purges_at_the_start(self: RemovedLogs, directory: Any) -> None:
    """As before topics could be restored: a broker that starts removes what is set aside."""
    for each in list(directory.deleted):
        directory.deleted.take(each)
        await self._background.run(directory.purge, directory.deleted.path_of(each))


def _purges_nothing(_self: RemovedLogs, _topic_ids: Any) -> None:
    """A broker that runs keeps the logs of purged topics."""


def _is_always_expired(image: MetadataImage, _now_ms: int) -> list[Any]:
    """The controller purges topics as soon as it looks for expired ones."""
    return list(image.deleted_topics)


@contextmanager
def _expiring_early() -> Iterator[None]:
    from ottla.controller.operations import deleted_topics

    with (
        patch.object(deleted_topics, "expired_topics", _is_always_expired),
        patch.object(chores, "expired_topics", _is_always_expired),
    ):
        yield


class _EveryReplicaIsInSync(PartitionChanges):
    """Restoring takes every replica for in sync, also those that were behind at the deletion."""

    def record(self, topic: Any, partition_id: int, **_how: Any) -> PartitionChangeRecord:
        replicas = topic.partitions[partition_id].replicas
        return PartitionChangeRecord(isr=list(replicas), leader=replicas[-1])


def _returns_never(_image: MetadataImage, _topic_id: Any) -> bool:
    """Brokers do not look for deleted topics in the metadata."""
    return False


DELETION_MUTANTS: Final[tuple[Mutant, ...]] = (
    Mutant(
        "restores empty logs",
        replacing(RemovedLogs, "restore", _restores_nothing),
        1,
        UndeletedTopicsAreWhole,
        has_deletions=True,
    ),
    Mutant(
        "purges at the start what may be restored",
        replacing(RemovedLogs, "settle", _purges_at_the_start),
        1,
        UndeletedTopicsAreWhole,
        seeks=("kill_all", "stop"),
        has_deletions=True,
    ),
    Mutant(
        "keeps no log of a deleted topic",
        replacing(removed_logs, "may_return", _returns_never),
        1,
        UndeletedTopicsAreWhole,
        has_deletions=True,
    ),
    Mutant(
        "takes every replica of a restored topic for in sync",
        replacing(undelete_topic, "PartitionChanges", _EveryReplicaIsInSync),
        1,
        UndeletedTopicsAreWhole,
        seeks=("isolate", "pause", "part"),
        seconds_min=2.0,
        seconds_max=6.0,
        has_deletions=True,
    ),
    Mutant(
        "purges topics before their time",
        _expiring_early,
        1,
        NothingIsPurgedEarly,
        has_deletions=True,
    ),
    Mutant(
        "keeps the logs of purged topics",
        replacing(RemovedLogs, "purge", _purges_nothing),
        1,
        PurgedTopicsAreGone,
        has_deletions=True,
    ),
)
