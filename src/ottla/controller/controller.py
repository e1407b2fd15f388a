"""The controller: the one that changes the cluster's metadata, one operation after the other.

    submitted ──append, propose──▶ waiting ──flush──▶ committed ──listeners told──▶ answered

There are two images. Operations are judged by the one that shows everything appended, so that each
sees what was done before it. Everybody else sees the one that shows what is on the device: nothing
that a crash could take back. They share their values, so the second one is small.

Operations that arrive while a flush runs wait together for the next one. A disk that fails ends the
controller: what it had appended may be on the device or not, and the next one finds out.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from ottla.configs import ConfigResourceType, InvalidConfigError, NodeConfig
from ottla.controller.bootstrap import first_records, read_bootstrap_records
from ottla.controller.metadata_log import MetadataLog, MetadataLogConfig
from ottla.controller.metadata_log_loading import open_metadata_log
from ottla.controller.operation import Context, Operation
from ottla.controller.snapshot_file import Snapshot
from ottla.controller.topic_descriptions import TopicDescriptions
from ottla.metadata import MetadataDelta, MetadataError, MetadataImage, Replay
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.disk import Disk
from ottla.runtime.tasks import Tasks
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.transactions import AbortTransactionRecord

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)

# Called after each commit with what it changed; the image shows it. Must not wait.
Listener: TypeAlias = Callable[[MetadataDelta], None]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Seams:
    """The world, and whoever owns the controller's tasks."""

    disk: Disk
    clock: Clock
    dice: Dice
    background: Background
    tasks: Tasks


class _Waiting(NamedTuple):
    """Records that are appended and not yet committed, and who waits for that."""

    end_offset: int
    records: Sequence[Message]
    answered: asyncio.Future[None]


class Controller:
    """Made by `open`, which makes it the leader of a quorum of one; ended by `close`.

    Owned by one event loop. After `failure` is set it takes nothing any more.
    """

    def __init__(
        self, seams: Seams, cluster_id: str, node: NodeConfig, log: MetadataLog, replay: Replay
    ) -> None:
        self.cluster_id = cluster_id
        self.failure: BaseException | None = None
        self._seams = seams
        self._started_with = node
        self._node = node
        self._descriptions = TopicDescriptions(node)
        self._log = log
        self._proposed = Replay(replay.image)
        self._committed = Replay(replay.image.copy())
        self._waiting: deque[_Waiting] = deque()
        self._listeners: list[Listener] = []
        self._is_flushing = False
        self._snapshotting: asyncio.Task[object] | None = None
        self._follow_broker_configs()

    @classmethod
    def open(cls, seams: Seams, directory: str, *, cluster_id: str, node: NodeConfig) -> Controller:
        """Loads the metadata in a formatted directory, begins an epoch and, where the log is
        empty, the cluster. Blocks: there is nothing to serve before it."""
        now_ms = seams.clock.now_ms()
        config = MetadataLogConfig(
            log_segment_bytes=node.metadata_log_segment_bytes,
            max_record_bytes_between_snapshots=node.metadata_log_max_record_bytes_between_snapshots,
        )
        log, replay = open_metadata_log(seams.disk, directory, config, now_ms=now_ms)
        log.become_leader(node.node_id, now_ms=now_ms)
        records: list[Message] = []
        if replay.is_in_transaction:
            records.append(AbortTransactionRecord(reason="Controller failover"))
        if replay.image.is_empty:
            bootstrap = read_bootstrap_records(seams.disk, directory)
            minimum = node.min_insync_replicas
            records += first_records(bootstrap, min_insync_replicas=minimum)
        if records:
            version = replay.image.metadata_version
            log.append(records, metadata_version=version, now_ms=now_ms)
            replay.take(records, MetadataDelta())
            log.flush()
        return cls(seams, cluster_id, node, log, replay)

    @property
    def image(self) -> MetadataImage:
        """The cluster as of the last commit. Only the controller changes it."""
        return self._committed.image

    @property
    def epoch(self) -> int:
        return self._log.epoch

    @property
    def committed_offset(self) -> int:
        """The offset after the last committed record."""
        return self._log.committed_offset

    def listen(self, listener: Listener) -> None:
        """Has a listener called after each commit from now on."""
        self._listeners.append(listener)

    async def submit(self, operation: Operation[Request, Response], request: Request) -> Response:
        """Carries out an operation and answers when nothing can undo it.

        An answer that changes nothing waits too, for what it was judged by. Raises `KafkaError`
        (KAFKA_STORAGE_ERROR) if the disk is full, and then nothing has changed.
        """
        if self.failure is not None:
            raise _failed(self.failure)
        image = self._proposed.image
        context = Context(
            cluster_id=self.cluster_id,
            node=self._node,
            descriptions=self._descriptions,
            dice=self._seams.dice,
            next_offset=self._log.log_end_offset,
        )
        records, response = operation(image, request, context)
        if records:
            self._propose(records)
        if self._log.committed_offset < self._log.log_end_offset:
            await self._wait_committed(records)
        return response

    def _propose(self, records: list[Message]) -> None:
        start, now_ms = self._log.log_end_offset, self._seams.clock.now_ms()
        version = self._proposed.image.metadata_version
        try:
            self._log.append(records, metadata_version=version, now_ms=now_ms)
        except OSError as error:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"the metadata could not be written: {error}"
            ) from error
        delta = MetadataDelta()
        try:
            self._proposed.take(records, delta)
        except MetadataError as error:
            # A record that cannot be applied must not be found by the next start.
            self._log.withdraw(start, now_ms=now_ms)
            self._fail(error)
            raise
        if any(each.type is ConfigResourceType.BROKER for each in delta.configs_changed):
            self._follow_broker_configs()

    async def _wait_committed(self, records: list[Message]) -> None:
        answered = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(self._log.log_end_offset, records, answered))
        if not self._is_flushing:
            self._is_flushing = True
            self._seams.tasks.start("metadata-flush", self._flush())
        await answered

    def _follow_broker_configs(self) -> None:
        """Judges by the dynamic configs as they are now; ones that make no sense do not count."""
        image = self._proposed.image
        broker = image.broker_configs(self._started_with.node_id)
        try:
            self._node = self._started_with.with_dynamic(
                cluster=image.cluster_configs, broker=broker
            )
        except InvalidConfigError as error:
            _log.warning("stored broker configs are left out: %s", error.message)
        else:
            self._descriptions = TopicDescriptions(self._node)

    # ---- committing

    async def _flush(self) -> None:
        try:
            while self._waiting:
                flush = self._log.prepare_flush()
                if flush is not None:
                    await self._seams.background.run(flush.run)
                    self._log.complete_flush(flush)
                self._commit()
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._is_flushing = False

    def _commit(self) -> None:
        """Shows what was flushed to the listeners, then answers."""
        committed: list[_Waiting] = []
        delta = MetadataDelta()
        while self._waiting and self._waiting[0].end_offset <= self._log.committed_offset:
            waiting = self._waiting.popleft()
            committed.append(waiting)
            self._committed.take(waiting.records, delta)
        if not delta.is_empty:
            for listener in self._listeners:
                listener(delta)
        for waiting in committed:
            if not waiting.answered.done():
                waiting.answered.set_result(None)
        if self._log.is_snapshot_due:
            snapshot = self._log.prepare_snapshot(self.image, now_ms=self._seams.clock.now_ms())
            if snapshot is not None:
                self._snapshotting = self._seams.tasks.start(
                    "metadata-snapshot", self._write_snapshot(snapshot)
                )

    async def _write_snapshot(self, snapshot: Snapshot) -> None:
        """A snapshot that cannot be written is missed by nobody: the log has everything."""
        try:
            await self._seams.background.run(snapshot.write)
            self._log.complete_snapshot(snapshot, now_ms=self._seams.clock.now_ms())
        except OSError as error:
            self._log.abandon_snapshot()
            _log.warning("the metadata snapshot %s is not complete: %s", snapshot.path, error)

    def _fail(self, error: BaseException) -> None:
        self.failure = error
        for waiting in self._waiting:
            if not waiting.answered.done():
                waiting.answered.set_exception(_failed(error))
        self._waiting.clear()

    async def close(self) -> None:
        """Waits for what was submitted and ends the log. Before the owner of its tasks closes."""
        if self._waiting:
            await asyncio.wait([self._waiting[-1].answered])
        if self._snapshotting is not None:
            await asyncio.wait([self._snapshotting])
        if self.failure is None:
            self.failure = RuntimeError("it is closed")
            self._log.close()
        else:
            self._log.abandon()


def _failed(error: BaseException) -> KafkaError:
    return KafkaError(
        ErrorCode.KAFKA_STORAGE_ERROR,
        f"the controller has ended ({error}) and metadata cannot change any more; "
        "look into the node's log and start it anew",
    )
