"""Takes logs out of use, and brings those of restored topics back.

The log of a deleted topic is kept as long as the metadata has the deleted topic, because it may be
restored; only the metadata decides when it is purged. Logs of replicas that moved to other nodes,
and of topics that are not kept, are purged at once.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.replicas.whole_steps import run_whole
from ottla.metadata import MetadataDelta, MetadataImage, PartitionRegistration
from ottla.model import TopicPartition, Uuid
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.tasks import Tasks
from ottla.storage.directories.deleted_logs import DeletedLog, KeptLog
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_offsets import LogOffsets
from ottla.storage.directories.log_store import LogStore
from ottla.storage.errors import StorageError
from ottla.storage.files.file_names import DirectoryState
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig

_log = logging.getLogger(__name__)

# Closing this many logs takes about a millisecond.
_LET_GO_MAX: Final = 100


class Restorable(NamedTuple):
    """A replica whose log may be one of a deleted topic."""

    topic_id: Uuid
    registration: PartitionRegistration
    config: LogConfig


class RestoredReplica(NamedTuple):
    """`log` is None if it cannot be opened, and `directory` too if there is none."""

    directory: LogDirectory | None
    log: Log | None


class RemovedLogs:
    """Created with the broker. Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
        background: Background,
        logs: LogStore,
        failures: StorageFailures,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._background = background
        self._logs = logs
        self._failures = failures
        # Topics that were deleted before this node created their logs.
        self._never_created: set[Uuid] = set()

    # ---- out of use

    def skip(self, topic_id: Uuid) -> None:
        """The topic was deleted before this node created its logs."""
        image = self._cluster.image
        known = {each for each in self._never_created if may_return(image, each)}
        self._never_created = {*known, topic_id}

    async def remove(self, topic_ids: Mapping[TopicPartition, Uuid | None]) -> None:
        """Removes logs. The topic id is None for a log that is purged in any case."""
        for directory in self._logs.directories if topic_ids else ():
            here = [each for each in topic_ids if _has(directory, each)]
            if not here:
                continue
            kept = kept_logs(
                directory, self._cluster.image, {each: topic_ids[each] for each in here}
            )
            staying = {each.partition for each in kept}
            unique_ids = {each: self._dice.uuid() for each in here if each not in staying}
            try:
                for first in range(0, len(here), _LET_GO_MAX):
                    if first:
                        await self._clock.sleep(0)
                    directory.let_go(here[first : first + _LET_GO_MAX])
                if kept:
                    await self._keep(directory, kept)
                if unique_ids:
                    paths = await self._background.run(
                        directory.rename_aside, unique_ids, DirectoryState.DELETE
                    )
                    self._start_purge(directory, paths)
            except OSError as error:
                self._failures.directory_failed(directory.path, error)

    async def _keep(self, directory: LogDirectory, logs: list[KeptLog]) -> None:
        """A log that keeps its name because of an error is set aside by the next start, or by a
        topic that takes the name."""
        try:
            kept = await self._background.run(directory.deleted.keep, logs)
        except OSError as error:
            self._failures.directory_failed(directory.path, error)
            kept = directory.deleted.renamed(logs)
        directory.deleted.add(kept)

    def purge(self, topic_ids: Collection[Uuid]) -> None:
        """Removes the logs of those deleted topics that can no longer be restored."""
        for directory in self._logs.directories if topic_ids else ():
            gone = [
                each
                for each in directory.deleted
                if each.replica.topic_id in topic_ids
                and not may_return(self._cluster.image, each.replica.topic_id)
            ]
            for each in gone:
                directory.deleted.take(each)
            if gone:
                paths = [directory.deleted.path_of(each) for each in gone]
                self._start_purge(directory, paths)

    async def settle(self, directory: LogDirectory) -> None:
        """Purges what earlier processes have left and no topic needs. Called after loading, when
        the metadata is not older than that of the earlier processes. Raises OSError."""
        for each in list(directory.deleted):
            if not may_return(self._cluster.image, each.replica.topic_id):
                directory.deleted.take(each)
                path = directory.deleted.path_of(each)
                await run_whole(self._background, directory.purge, path)

    def _start_purge(self, directory: LogDirectory, paths: Iterable[str]) -> None:
        directory.deleted.purges += 1
        self._tasks.start("purge", self._purge(directory, paths))

    async def _purge(self, directory: LogDirectory, paths: Iterable[str]) -> None:
        try:
            for path in paths:
                try:
                    await self._background.run(directory.purge, path)
                except OSError as error:
                    _log.warning("cannot remove %s now; the next start removes it: %s", path, error)
        finally:
            directory.deleted.purges -= 1

    # ---- into use again

    async def restore(
        self, replicas: Mapping[TopicPartition, Restorable], deltas: Collection[MetadataDelta]
    ) -> dict[TopicPartition, RestoredReplica]:
        """Opens the logs of those replicas that have one among the deleted logs. `deltas` are those
        that are applied."""
        found: dict[LogDirectory, dict[TopicPartition, DeletedLog]] = defaultdict(dict)
        for name, replica in replicas.items():
            for directory in self._logs.directories:
                deleted = directory.deleted.get(replica.topic_id, name.partition)
                if deleted is not None and not _has(directory, name):
                    found[directory][name] = deleted
                    break
        restored: dict[TopicPartition, RestoredReplica] = {}
        there = {name for logs in found.values() for name in logs}
        for name, replica in replicas.items():
            if name not in there and self._has_lost_log(replica, deltas):
                _log.error("%s is offline: its topic was restored, but its log is missing", name)
                restored[name] = RestoredReplica(None, None)
        for directory, logs in found.items():
            opened: dict[TopicPartition, Log] = {}
            try:
                directory.prepare_names(logs)
                for deleted in logs.values():
                    directory.deleted.take(deleted)
                await run_whole(self._background, directory.deleted.rename_back, logs)
                for name in logs:
                    log = await self._open(directory, name, replicas[name].config)
                    restored[name] = RestoredReplica(directory, log)
                    if log is not None:
                        opened[name] = log
                directory.write_checkpoints()
                await self._background.run(directory.deleted.complete, list(opened))
            except OSError as error:
                self._failures.directory_failed(directory.path, error)
                for name in logs:
                    restored.setdefault(name, RestoredReplica(directory, None))
        return restored

    def _has_lost_log(self, replica: Restorable, deltas: Collection[MetadataDelta]) -> bool:
        """Whether the topic is restored just now, and the metadata counts on this replica to have
        all records. With an empty log it could be elected, and empty the other replicas too."""
        topic_id = replica.topic_id
        return (
            self._cluster.node_id in replica.registration.complete_replicas
            and topic_id not in self._never_created
            and any(topic_id in delta.deleted_topics_changed for delta in deltas)
        )

    async def _open(
        self, directory: LogDirectory, name: TopicPartition, config: LogConfig
    ) -> Log | None:
        try:
            opened = await run_whole(
                self._background,
                lambda: directory.deleted.open(name, config, now_ms=self._clock.now_ms()),
            )
        except StorageError as error:
            _log.error("cannot open the restored log of %s: %s", name, error)
            directory.offline[name] = error
            return None
        directory.adopt(opened)
        return opened.log


def may_return(image: MetadataImage, topic_id: Uuid) -> bool:
    """Whether logs of the topic must be kept: it can be restored, or was restored just now."""
    return topic_id in image.deleted_topics.by_id or topic_id in image.topics.by_id


def kept_logs(
    directory: LogDirectory, image: MetadataImage, topic_ids: Mapping[TopicPartition, Uuid | None]
) -> list[KeptLog]:
    """Those of a directory's logs that have to be kept, although they are taken out of use."""
    offsets: Mapping[TopicPartition, LogOffsets] | None = None
    kept = []
    for name, topic_id in topic_ids.items():
        if topic_id is None or not may_return(image, topic_id):
            continue
        log = directory.logs.get(name)
        if log is None:
            # It could not be opened. Only the checkpoints know its offsets.
            offsets = directory.offsets() if offsets is None else offsets
            known = offsets.get(name, LogOffsets())
        else:
            known = LogOffsets.of(log)
        kept.append(
            KeptLog(
                topic_id,
                name,
                known,
                compacted_up_to=directory.cleaner_offsets.known(name),
                size=0 if log is None else sum(segment.size for segment in log.segments),
            )
        )
    return kept


def _has(directory: LogDirectory, name: TopicPartition) -> bool:
    return name in directory.logs or name in directory.offline
