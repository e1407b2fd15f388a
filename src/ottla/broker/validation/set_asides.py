"""Sets bad batches aside: writes them to a dead letter topic, and acknowledges them.

    bad ──▶ its place appended ──▶ place committed ──▶ letter written ──▶ acknowledged

The place of a batch is an empty batch with the sequence numbers of an idempotent producer, as
compaction leaves them. So the sequence has no gap, the offsets are used, and consumers skip them.
The letter is written only when the place is committed, under a producer id that is derived from the
place (letters.py). If it is written again, after a lost answer or a failed leader, the dead letter
topic recognizes the duplicate.

What was not acknowledged, the producer sends again. The partition finds the batch to be a duplicate
of the place, and the letter is written then, even if the batch is good by now. Nothing has to be
remembered but the place, which is in the log.

What a producer without an id sends again gets another place, and is in the dead letter topic twice,
as it would be in any topic. A batch of a transaction is refused: its letter could be read
although the transaction is aborted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.dead_letter_topics import dead_letter_refusal
from ottla.broker.coordinators.leader_appends import LeaderAppends
from ottla.broker.coordinators.partition_log import PartitionLog
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.validation.letters import LetterPlace, LetterText, build_letter
from ottla.controller.quorum_seams import Seams
from ottla.metrics import Metrics
from ottla.metrics.table.topics import TOPIC_SCHEMA_SET_ASIDE_RECORDS
from ottla.model import ZERO_UUID, ErrorCode, KafkaError, TopicPartition
from ottla.replication.partition import Partition
from ottla.runtime.background import WorkerCrashedError
from ottla.storage.batches.opened_batch import OpenedBatch, opened_bytes_max
from ottla.storage.batches.record_errors import InvalidRecordsError
from ottla.storage.log.append_result import AppendResult
from ottla.storage.log.group_commit import GroupCommit
from ottla.wire.errors import ProtocolError
from ottla.wire.records.builder import set_aside_batch
from ottla.wire.records.header import HEADER_BYTES, BatchHeader, read_header

# Of batches whose letters are not written yet.
_WAITING_BYTES_MAX: Final = 32 << 20
_PATIENCE_SECONDS: Final = 10.0
_OFFSET_MAX: Final = 2**63 - 1
# What the size of a letter may differ by, because it has another offset and is compressed.
_SIZE_MARGIN: Final = 4 << 10

Written = Callable[[KafkaError | None], None]


class SetAside(NamedTuple):
    """A batch to set aside. `place` is what its log gets."""

    opened: OpenedBatch
    place: OpenedBatch
    target: TopicPartition
    topic: str
    error: InvalidRecordsError | None


class SetAsides:
    """Owned by the node's loop. Its tasks end with the node's."""

    def __init__(
        self,
        cluster: ClusterView,
        appends: LeaderAppends,
        commit: GroupCommit,
        failures: StorageFailures,
        metrics: Metrics,
        seams: Seams,
    ) -> None:
        self._cluster = cluster
        self._appends = appends
        self._commit = commit
        self._failures = failures
        self._metrics = metrics
        self._background = seams.background
        self._clock = seams.clock
        self._tasks = seams.tasks
        self._waiting_bytes = 0

    async def decide(
        self, name: TopicPartition, opened: OpenedBatch, error: InvalidRecordsError, prefix: str
    ) -> SetAside:
        """What to set aside. Raises the error, with the reason, if the batch has to be refused."""
        rules = opened.config.schema_rules
        assert rules is not None, "only topics with schema rules have dead letters"
        if not rules.dead_letter_topic:
            raise error
        if opened.header.is_transactional:
            raise _with_reason(error, "it is transactional")
        found = self.prepare(name, opened, error, prefix)
        somewhere = LetterPlace(ZERO_UUID, name.partition, _OFFSET_MAX, 0)
        letter = await self._build(found, somewhere)
        image = self._cluster.image
        topic_config = self._cluster.config.topic_config(image.topic_configs(found.target.topic))
        if len(letter) + _SIZE_MARGIN > topic_config.max_message_bytes:
            raise _with_reason(error, f"it is too large for {rules.dead_letter_topic}")
        return found

    def prepare(
        self,
        name: TopicPartition,
        opened: OpenedBatch,
        error: InvalidRecordsError | None,
        prefix: str,
    ) -> SetAside:
        """Raises InvalidRecordsError if the dead letter topic cannot be used, and
        NOT_ENOUGH_REPLICAS if too many letters wait."""
        rules, header = opened.config.schema_rules, opened.header
        own_name = "" if rules is None else rules.dead_letter_topic
        target = prefix + own_name
        reason = dead_letter_refusal(self._cluster, target, tenant_prefix=prefix)
        if reason:
            raise _with_reason(error, f"{own_name} cannot be used: {reason}")
        if self._waiting_bytes and self._waiting_bytes + len(opened.records) > _WAITING_BYTES_MAX:
            raise KafkaError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                "too many batches are being written to dead letter topics "
                f"({self._waiting_bytes} bytes); try again",
            )
        batch = set_aside_batch(header)
        partitions = self._cluster.image.topics.by_name[target].partitions
        return SetAside(
            opened,
            OpenedBatch(batch, read_header(batch), opened.config),
            TopicPartition(target, name.partition % len(partitions)),
            name.topic.removeprefix(prefix),
            error,
        )

    def deliver(
        self, partition: Partition, batch: SetAside, result: AppendResult, written: Written
    ) -> None:
        """Writes the letter and calls `written` once, unless the node ends before."""
        if self._tasks.is_closed:
            return
        self._waiting_bytes += len(batch.opened.records)
        self._tasks.start(
            f"dead letter of {partition.name}", self._deliver(partition, batch, result, written)
        )

    async def _deliver(
        self, partition: Partition, batch: SetAside, result: AppendResult, written: Written
    ) -> None:
        error: KafkaError | None = None
        try:
            await self._write(partition, batch, result)
        except KafkaError as failed:
            # Producers send the batch again.
            message = f"the batch was not written to {batch.target.topic}: {failed.message}"
            error = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, message)
        finally:
            self._waiting_bytes -= len(batch.opened.records)
        written(error)

    async def _write(self, partition: Partition, batch: SetAside, result: AppendResult) -> None:
        await self._wait_committed(partition, result.last_offset + 1)
        header = place_at(partition, result.first_offset)
        if header is None or header.base_sequence != batch.opened.header.base_sequence:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "the leader has changed")
        topic = self._cluster.image.topics.by_name.get(partition.name.topic)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the topic was deleted")
        letter = await self._build(
            batch,
            LetterPlace(
                topic.id, partition.name.partition, result.first_offset, header.leader_epoch
            ),
        )
        await self._appends.append(batch.target, bytearray(letter), seconds=_PATIENCE_SECONDS)
        self._metrics.counter(TOPIC_SCHEMA_SET_ASIDE_RECORDS, partition.name.topic).add(
            batch.opened.header.record_count
        )

    async def _wait_committed(self, partition: Partition, end_offset: int) -> None:
        log = PartitionLog(self._commit, self._failures, partition)
        if log.is_committed(end_offset):
            return
        committed: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
        log.when_committed(end_offset, committed.set_result)
        if code := await committed:
            raise KafkaError(code, f"{partition.name} is not replicated: {code.name}")

    async def _build(self, batch: SetAside, place: LetterPlace) -> bytes:
        """Raises KafkaError."""
        records, error = bytes(batch.opened.records), batch.error
        message, messages = "", dict[int, str]()
        if error is not None:
            message, messages = error.message or "", dict(error.record_errors)
        text = LetterText(batch.topic, message, messages)
        bytes_max = opened_bytes_max(len(records), batch.opened.config)
        try:
            return await self._background.compute_limited(
                build_letter, records, bytes_max, text, place, self._clock.now_ms()
            )
        except (ProtocolError, WorkerCrashedError, MemoryError) as failed:
            raise KafkaError(ErrorCode.INVALID_RECORD, str(failed)) from None


def place_at(partition: Partition, offset: int) -> BatchHeader | None:
    """The header of the place that begins at this offset; None if records are there, or nothing."""
    try:
        log = partition.require_log()
        found = log.read(
            offset, bytes_max=HEADER_BYTES, upper_offset=log.log_end_offset, min_one_batch=True
        )
    except KafkaError:
        return None
    if found is None:
        return None
    header = read_header(found.file.read_at(found.position, HEADER_BYTES))
    return header if header.is_set_aside and header.base_offset == offset else None


def _with_reason(error: InvalidRecordsError | None, reason: str) -> InvalidRecordsError:
    if error is None:
        return InvalidRecordsError(
            ErrorCode.INVALID_RECORD,
            f"the batch cannot be written to its dead letter topic: {reason}",
            (),
        )
    return InvalidRecordsError(
        error.code,
        f"{error.message}; it cannot be written to the dead letter topic: {reason}",
        error.record_errors,
    )
