"""Removes stray log directories after `ottla.stray.retention.ms`.

Kafka keeps strays until an operator removes them. Ottla keeps a stray longer only if its partition
has no leader, because the stray may be the last copy of its records.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.metadata import MetadataImage
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_store import LogStore
from ottla.storage.directories.stray_directories import StrayDirectory

_log = logging.getLogger(__name__)

_NAMES_SHOWN: Final = 3
_DAY_MS: Final = 24 * 60 * 60 * 1_000


def warn_of_strays(
    directory: LogDirectory, strays: list[StrayDirectory], *, retention_ms: int
) -> None:
    """Logs one warning for all strays of a directory."""
    if not strays:
        return
    names = ", ".join(str(stray.partition) for stray in strays[:_NAMES_SHOWN])
    more = f" and {len(strays) - _NAMES_SHOWN:,} more" if len(strays) > _NAMES_SHOWN else ""
    fate = "they stay until you remove them (ottla.stray.retention.ms is -1)"
    if retention_ms >= 0:
        days = retention_ms / _DAY_MS
        fate = f"each is removed {days:g} days after it was set aside (ottla.stray.retention.ms)"
    _log.warning(
        "%s contains %s of logs that belong to no partition of this node, renamed to end "
        "in -stray: %s%s; %s",
        directory.path,
        "1 directory" if len(strays) == 1 else f"{len(strays):,} directories",
        names,
        more,
        fate,
    )


class StrayExpiry:
    """A periodic task of a running node."""

    def __init__(
        self, cluster: ClusterView, logs: LogStore, clock: Clock, background: Background
    ) -> None:
        self._cluster = cluster
        self._logs = logs
        self._clock = clock
        self._background = background

    async def remove_expired(self) -> None:
        retention_ms = self._cluster.config.stray_retention_ms
        if retention_ms < 0:
            return
        for directory in self._logs.directories:
            now_ms = self._clock.now_ms()
            try:
                strays = await self._background.run(self._logs.find_strays, directory.path, now_ms)
                expired = [each for each in strays if now_ms - each.since_ms >= retention_ms]
                await self._remove(directory, expired)
            except OSError as error:
                _log.warning(
                    "cannot remove stray logs in %s, trying again later: %s", directory.path, error
                )

    async def _remove(self, directory: LogDirectory, expired: Iterable[StrayDirectory]) -> None:
        for stray in expired:
            if not may_be_needed(self._cluster.image, stray):
                await self._background.run(directory.purge, stray.path)
                _log.info("removed stray log %s: ottla.stray.retention.ms has passed", stray.path)


def may_be_needed(image: MetadataImage, stray: StrayDirectory) -> bool:
    """Whether the stray's partition exists and has no leader."""
    topics = image.topics
    if stray.topic_id is None:
        topic = topics.by_name.get(stray.partition.topic)
    else:
        topic = topics.by_id.get(stray.topic_id)
    registration = None if topic is None else topic.partitions.get(stray.partition.partition)
    return registration is not None and registration.leader < 0
