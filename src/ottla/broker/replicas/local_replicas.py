"""This node's replicas: keeps its logs and partitions in line with the metadata.

At startup the logs on disk are compared with the metadata image. After that every delta is applied
in order: logs of new partitions are created, logs of deleted topics are removed, changed configs
are applied to the logs. A worker creates and removes files; logs are opened on the loop in steps of
a few milliseconds. `wait_applied` waits until that is done.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.directory_assignments import assign_directories
from ottla.broker.replicas.log_configs import LogConfigs
from ottla.broker.replicas.log_moves import LogMoves
from ottla.broker.replicas.log_placement import LogPlacement
from ottla.broker.replicas.removed_logs import RemovedLogs, Restorable
from ottla.broker.replicas.replication import Replication
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.replicas.stray_expiry import warn_of_strays
from ottla.broker.replicas.stray_logs import set_copies_aside, set_strays_aside
from ottla.broker.replicas.whole_steps import run_whole
from ottla.configs import ConfigResourceType
from ottla.metadata import MetadataDelta, PartitionRegistration, TopicImage
from ottla.metadata.partition import LOST_DIRECTORY
from ottla.model import LeaderEpoch, NodeId, TopicPartition
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.tasks import Tasks
from ottla.storage.directories.log_directory import LogDirectory, Progress
from ottla.storage.directories.log_store import LogStore
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig

_log = logging.getLogger(__name__)

# Opening logs yields to the loop after this long.
_STEP_SECONDS: Final = 0.002


class _Replica(NamedTuple):
    """A partition with a replica on this node, according to the metadata."""

    topic: TopicImage
    name: TopicPartition
    registration: PartitionRegistration


class _Waiting(NamedTuple):
    delta: MetadataDelta
    applied: asyncio.Future[None]


class LocalReplicas:
    """Created with the broker. Owned by the node's loop.

    A partition whose log cannot be opened or created stays offline: its `log` is None, and requests
    for it get a storage error.
    """

    def __init__(
        self,
        cluster: ClusterView,
        controller: ActiveController,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
        background: Background,
        logs: LogStore,
        partitions: Partitions,
        replication: Replication,
        log_moves: LogMoves,
        failures: StorageFailures,
    ) -> None:
        self._cluster = cluster
        self._controller = controller
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._logs = logs
        self._partitions = partitions
        self._replication = replication
        self._log_moves = log_moves
        log_moves.on_swapped = replication.partition_changed
        self._failures = failures
        self._background = background
        self._log_configs = LogConfigs(cluster.config, dice)
        self._removed_logs = RemovedLogs(cluster, clock, dice, tasks, background, logs, failures)
        self._waiting: deque[_Waiting] = deque()
        self._is_working = False

    async def load(self, *, progress: Progress = lambda _done, _all: None) -> None:
        """Opens every log and creates the missing ones, before the node serves. `apply` must be
        called with every delta since this was called; it waits for the load."""
        self._is_working = True
        await self._load(progress)
        self._tasks.start("replicas", self._work())

    async def _load(self, progress: Progress) -> None:
        self.follow_broker_configs()
        for directory in self._logs.directories:
            await self._load_directory(directory, progress)
        seen = -1
        while seen != len(self._waiting):
            # Again if the metadata has changed meanwhile: no log is followed that has to go.
            seen = len(self._waiting)
            for directory in self._logs.directories:
                await self._set_aside(directory)
        missing = [
            replica
            for topic in self._cluster.image.topics
            for replica in self._replicas(topic, topic.partitions)
            if not self._follow(replica)
        ]
        missing = await self._restore(missing, *(each.delta for each in self._waiting))
        for directory, placed in self._place(missing, are_new=False).items():
            try:
                directory.prepare_logs({each.name: each.topic.id for each in placed})
            except OSError as error:
                self._failed(directory, placed, error)
                continue
            for replica in placed:
                self._open(directory, replica)
        self._log_moves.resume()

    async def _set_aside(self, directory: LogDirectory) -> None:
        """Takes logs out of use that belong to no partition of this node."""
        cluster, dice = self._cluster, self._dice
        try:
            set_copies_aside(self._logs, directory, cluster.image, cluster.node_id, dice)
            set_strays_aside(directory, cluster.image, node_id=cluster.node_id, dice=dice)
            await self._removed_logs.settle(directory)
            strays = await run_whole(
                self._background, self._logs.find_strays, directory.path, self._clock.now_ms()
            )
        except OSError as error:
            # Even a full disk: a stray must not be mistaken for a partition's log.
            self._logs.take_offline(directory.path, error)
        else:
            warn_of_strays(directory, strays, retention_ms=cluster.config.stray_retention_ms)

    async def _load_directory(self, directory: LogDirectory, progress: Progress) -> None:
        steps = directory.load_in_steps(
            lambda partition: self._log_config(partition.topic),
            now_ms=self._clock.now_ms(),
            progress=progress,
        )
        try:
            for step in steps:
                await run_whole(self._background, step)
        except OSError as error:
            self._logs.take_offline(directory.path, error)

    def apply(self, delta: MetadataDelta) -> None:
        """Starts to apply a committed delta, which the image already includes. Does not wait."""
        if delta.brokers_changed:
            self._replication.brokers_changed()
        for topic_id in delta.topics_skipped:
            self._removed_logs.skip(topic_id)
        if not (delta.topics_removed or delta.partitions_changed or delta.configs_changed):
            return
        try:
            self._follow_known(delta)
        except Exception:
            # `_work` tries it again; the metadata log itself has not failed.
            _log.exception("not all leader changes were applied")
        self._waiting.append(_Waiting(delta, asyncio.get_running_loop().create_future()))
        if not self._is_working:
            self._is_working = True
            self._tasks.start("replicas", self._work())

    async def wait_applied(self) -> None:
        """Returns when all deltas passed to `apply` before this call are applied."""
        if self._waiting:
            await asyncio.shield(self._waiting[-1].applied)

    async def _work(self) -> None:
        try:
            while self._waiting:
                try:
                    await self._apply(self._waiting[0].delta)
                except Exception:
                    _log.exception("a metadata change was not applied completely")
                self._waiting.popleft().applied.set_result(None)
        finally:
            self._is_working = False
            while self._waiting:
                self._waiting.popleft().applied.set_result(None)

    def _follow_known(self, delta: MetadataDelta) -> None:
        """Applies leader changes of existing partitions at once: a failover must not wait for a
        slow disk that creates other logs."""
        for topic_id, changed in delta.partitions_changed.items():
            topic = self._cluster.image.topics.by_id.get(topic_id)
            for replica in () if topic is None else self._replicas(topic, changed):
                partition = self._partitions.get(replica.name)
                if partition is not None and partition.topic_id == topic_id:
                    self._follow(replica)

    async def _apply(self, delta: MetadataDelta) -> None:
        partitions = self._partitions
        removed: list[Partition] = []
        for topic_id in delta.topics_removed:
            removed += partitions.remove_topic(topic_id)
        for partition in removed:
            self._replication.forget(partition)
        await self._removed_logs.remove({each.name: each.topic_id for each in removed})
        self._removed_logs.purge(delta.deleted_topics_changed)
        self._reconfigure(delta)
        new = []
        moved: list[TopicPartition] = []
        for topic_id, changed in delta.partitions_changed.items():
            topic = self._cluster.image.topics.by_id.get(topic_id)
            if topic is None:
                self._removed_logs.skip(topic_id)  # A later delta removes it.
            else:
                new += [each for each in self._replicas(topic, changed) if not self._follow(each)]
                moved += self._moved_away(topic, changed)
        await self._removed_logs.remove(dict.fromkeys(moved))
        await self._create(await self._restore(new, delta))

    def _moved_away(self, topic: TopicImage, indexes: Iterable[int]) -> list[TopicPartition]:
        """Removes partitions that no longer have a replica on this node, and returns their
        names."""
        names, node_id = [], self._cluster.node_id
        for index in indexes:
            partition = self._partitions.get(TopicPartition(topic.name, index))
            if partition is not None and node_id not in topic.partitions[index].replicas:
                self._replication.forget(partition)
                self._partitions.remove(partition)
                names.append(partition.name)
        return names

    def _replicas(self, topic: TopicImage, indexes: Iterable[int]) -> list[_Replica]:
        return [
            _Replica(topic, TopicPartition(topic.name, index), registration)
            for index in indexes
            if self._cluster.node_id in (registration := topic.partitions[index]).replicas
        ]

    # ---- partitions

    def _follow(self, replica: _Replica) -> bool:
        """Makes a partition leader or follower as the metadata says. Returns False if its log does
        not exist yet."""
        name, registration = replica.name, replica.registration
        partition = self._partitions.get(name)
        if partition is None:
            log = self._logs.get(name)
            is_unreadable = any(name in each.offline for each in self._logs.directories)
            if log is None and not is_unreadable:
                return False
            self._add_partition(replica, log)
        elif registration.partition_epoch > partition.partition_epoch:
            self._replication.follow_metadata(partition, registration)
        return True

    def _add_partition(self, replica: _Replica, log: Log | None) -> None:
        registration = replica.registration
        partition = Partition(
            replica.name,
            replica.topic.id,
            leader=NodeId(registration.leader),
            leader_epoch=LeaderEpoch(registration.leader_epoch),
        )
        partition.log = log
        partition.set_min_insync_replicas(self._min_insync_replicas(replica.topic.name))
        self._partitions.add(partition)
        # The current image may be newer than the delta with this replica.
        topic = self._cluster.image.topics.by_id.get(replica.topic.id)
        latest = None if topic is None else topic.partitions.get(replica.name.partition)
        self._replication.follow_metadata(partition, latest or registration)

    # ---- new and restored logs

    async def _restore(self, replicas: list[_Replica], *deltas: MetadataDelta) -> list[_Replica]:
        """Takes the logs of restored topics into use. Returns the other replicas."""
        restorable = {
            name: Restorable(topic.id, registration, self._log_config(topic.name))
            for topic, name, registration in replicas
        }
        restored = await self._removed_logs.restore(restorable, deltas)
        rest = []
        for replica in replicas:
            found = restored.get(replica.name)
            if found is None:
                rest.append(replica)
                continue
            self._add_partition(replica, found.log)
            self._report_directory(found.directory, [replica])
        return rest

    async def _create(self, replicas: list[_Replica]) -> None:
        clock = self._clock
        for directory, placed in self._place(replicas, are_new=True).items():
            topic_ids = {each.name: each.topic.id for each in placed}
            try:
                await self._background.run(directory.prepare_logs, topic_ids)
            except OSError as error:
                self._failed(directory, placed, error)
                continue
            self._report_directory(directory, placed)
            started = clock.monotonic()
            for replica in placed:
                self._open(directory, replica)
                if clock.monotonic() - started > _STEP_SECONDS:
                    await clock.sleep(0)
                    started = clock.monotonic()

    def _report_directory(self, directory: LogDirectory | None, replicas: list[_Replica]) -> None:
        """Reports the replicas whose directory this node chose itself, or who have lost theirs:
        these leave the ISR, and are offline after a restart, too."""
        node_id = self._cluster.node_id
        directory_id = LOST_DIRECTORY if directory is None else directory.id
        chosen = [
            (each.topic.id, each.name.partition)
            for each in replicas
            if each.registration.directory_of(node_id) != directory_id
        ]
        if chosen and directory_id is not None:
            reporting = assign_directories(
                self._cluster, self._controller, self._clock, {directory_id: chosen}
            )
            self._tasks.start("assign directories", reporting)

    def _place(
        self, replicas: Iterable[_Replica], *, are_new: bool
    ) -> dict[LogDirectory, list[_Replica]]:
        """Chooses the directory of each new log. A replica without a usable one is taken
        offline."""
        placement = LogPlacement(self._logs, self._cluster.config, self._cluster.node_id)
        placed = defaultdict(list)
        for replica in replicas:
            path = self._log_moves.requested_paths.pop(replica.name, None)
            directory = placement.place(replica.registration, is_new=are_new, path=path)
            if directory is None:
                _log.error("%s is offline: its log directory cannot be used", replica.name)
                self._add_partition(replica, None)
            else:
                placed[directory].append(replica)
        return placed

    def _open(self, directory: LogDirectory, replica: _Replica) -> None:
        config = self._log_config(replica.topic.name)
        now_ms = self._clock.now_ms()
        try:
            log = directory.open_prepared_log(replica.name, config, now_ms=now_ms)
        except OSError as error:
            self._failed(directory, [replica], error)
        else:
            self._add_partition(replica, log)

    def _failed(
        self, directory: LogDirectory, replicas: Collection[_Replica], error: OSError
    ) -> None:
        is_replicated = any(len(each.registration.replicas) > 1 for each in replicas)
        cause = self._failures.directory_failed(directory.path, error, is_replicated=is_replicated)
        for replica in replicas:
            _log.error("cannot open the log of %s: %s", replica.name, cause.message)
            self._add_partition(replica, None)

    # ---- configs

    def _min_insync_replicas(self, topic: str) -> int:
        overrides = self._cluster.image.topic_configs(topic)
        return self._cluster.config.topic_config(overrides).min_insync_replicas

    def _log_config(self, topic: str) -> LogConfig:
        return self._log_configs.of_topic(topic, self._cluster.image.topic_configs(topic))

    def _reconfigure(self, delta: MetadataDelta) -> None:
        changed = delta.configs_changed
        mine = ("", str(self._cluster.node_id))
        if any(kind is ConfigResourceType.BROKER and name in mine for kind, name in changed):
            self.follow_broker_configs()
            logs = list(self._logs)
        else:
            topics = {name for kind, name in changed if kind is ConfigResourceType.TOPIC}
            logs = [log for topic in sorted(topics) for log in self._logs_of(topic)]
        for log in logs:
            log.reconfigure(self._log_config(log.partition.topic))
            partition = self._partitions.get(log.partition)
            if partition is not None:
                partition.set_min_insync_replicas(self._min_insync_replicas(log.partition.topic))
                self._replication.partition_changed(partition)

    def _logs_of(self, topic_name: str) -> list[Log]:
        topic = self._cluster.image.topics.by_name.get(topic_name)
        indexes = () if topic is None else topic.partitions
        found = [self._logs.get(TopicPartition(topic_name, index)) for index in indexes]
        return [log for log in found if log is not None]

    def follow_broker_configs(self) -> None:
        """Applies the image's dynamic broker configs for this node."""
        self._cluster.follow_dynamic_configs()
        self._log_configs = LogConfigs(self._cluster.config, self._dice)
