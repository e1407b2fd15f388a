"""Dead letters (KIP-1191): records that a share group gave up are written to another topic.

A record is written when a member rejects it, or when it was delivered as often as the group allows.
It is written before the share coordinator stores that the record is archived, so none is lost; one
may be written twice. The headers name its origin and the cause. Its key and value are copied only
if the group says so.

For a tenant's group it is a topic of the tenant, named without the tenant's prefix, as in all that
its clients say and see.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.dead_letter_topics import dead_letter_refusal
from ottla.broker.coordinators.leader_appends import LeaderAppends
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.sharing.group_delivery import DeadLetterTopic
from ottla.controller.quorum_seams import Seams
from ottla.metadata import TopicImage
from ottla.metadata.features import SHARE_VERSION
from ottla.metrics import Metrics
from ottla.metrics.table import shares as table
from ottla.model import KafkaError, Offset, TimestampMs, TopicPartition
from ottla.replication.partition import Isolation, Partition
from ottla.shares.runs import DeadCause, DeadRecords
from ottla.tenancy.tenant import tenant_prefix
from ottla.wire.errors import ProtocolError
from ottla.wire.records import Record, build_batch, iterate_batches, iterate_records

_log = logging.getLogger(__name__)

_LEVEL: Final = 2
_PREFIX: Final = "__dlq.errors."
_MESSAGES: Final = {
    DeadCause.REJECTED: "Offset rejected by client.",
    DeadCause.LIMIT: "The record reached the delivery count limit of the group.",
}
_BATCH_BYTES_MAX: Final = 256 << 10
_READ_BYTES_MAX: Final = 1 << 20
_PATIENCE_SECONDS: Final = 15.0


class _Source(NamedTuple):
    """Where dead records come from, and where they go."""

    group_id: str
    partition: Partition
    target: TopicPartition
    copies: bool


class DeadLetters:
    """Owned by the node's loop. Its tasks end with the node's."""

    def __init__(
        self,
        cluster: ClusterView,
        appends: LeaderAppends,
        failures: StorageFailures,
        metrics: Metrics,
        seams: Seams,
    ) -> None:
        self._cluster = cluster
        self._appends = appends
        self._failures = failures
        self._clock = seams.clock
        self._tasks = seams.tasks
        self._background = seams.background
        self._written = {
            cause: metrics.counter(table.SHARE_DEAD_LETTERS, cause.value) for cause in DeadCause
        }
        # Groups whose topic cannot be used, and why: logged once.
        self._refused: dict[str, str] = {}

    def write(
        self,
        group_id: str,
        partition: Partition,
        wanted: DeadLetterTopic,
        dead: Sequence[DeadRecords],
        written: Callable[[KafkaError | None], None],
    ) -> None:
        """Calls `written` once: without an error also if the group has no topic that can be
        used."""
        topic = self._topic_of(group_id, wanted) if dead else None
        if topic is None or self._tasks.is_closed:
            written(None)
            return
        target = TopicPartition(topic.name, partition.name.partition % len(topic.partitions))
        source = _Source(group_id, partition, target, wanted.copies)
        self._tasks.start(f"dead letters of {group_id}", self._write(source, dead, written))

    def _topic_of(self, group_id: str, wanted: DeadLetterTopic) -> TopicImage | None:
        image = self._cluster.image
        if not wanted.name or image.features.get(SHARE_VERSION, 0) < _LEVEL:
            return None
        prefix = tenant_prefix(image.cluster_configs, group_id)
        name = prefix + wanted.name
        reason = dead_letter_refusal(self._cluster, name, tenant_prefix=prefix)
        if self._refused.get(group_id, "") != reason:
            self._refused[group_id] = reason
            if reason:
                _log.warning(
                    "share group %s: the dead letter topic %s is not used: %s",
                    group_id,
                    wanted.name,
                    reason,
                )
        return None if reason else image.topics.by_name[name]

    # ---- writing

    async def _write(
        self,
        source: _Source,
        dead: Sequence[DeadRecords],
        written: Callable[[KafkaError | None], None],
    ) -> None:
        error: KafkaError | None = None
        try:
            for each in dead:
                copies = await self._copies(source.partition, each) if source.copies else {}
                for batch in _batches(self._records(source, each, copies)):
                    await self._appends.append(source.target, batch, seconds=_PATIENCE_SECONDS)
                self._written[each.cause].add(each.last - each.first + 1)
        except KafkaError as failed:
            _log.warning("dead letters of share group %s: %s", source.group_id, failed)
            error = failed
        written(error)

    def _records(
        self, source: _Source, dead: DeadRecords, copies: Mapping[int, Record]
    ) -> Iterator[Record]:
        now_ms = TimestampMs(self._clock.now_ms())
        topic, number = source.partition.name
        prefix = tenant_prefix(self._cluster.image.cluster_configs, source.group_id)
        for offset in range(dead.first, dead.last + 1):
            headers = {
                "topic": topic.removeprefix(prefix),
                "partition": str(number),
                "offset": str(offset),
                "group": source.group_id.removeprefix(prefix),
                "delivery.count": str(dead.delivery_count),
                "message": _MESSAGES[dead.cause],
            }
            copied = copies.get(offset)
            yield Record(
                Offset(0),
                now_ms,
                None if copied is None else copied.key,
                None if copied is None else copied.value,
                tuple((f"{_PREFIX}{name}", text.encode()) for name, text in headers.items()),
            )

    async def _copies(self, partition: Partition, dead: DeadRecords) -> dict[int, Record]:
        """The records of the log at these offsets."""
        found: dict[int, Record] = {}
        offset = dead.first
        while offset <= dead.last:
            with self._failures.translated(partition):
                read = partition.read(
                    offset,
                    bytes_max=_READ_BYTES_MAX,
                    isolation=Isolation.READ_UNCOMMITTED,
                    min_one_batch=True,
                ).records
                data = None if read is None else await self._background.run(read.read)
            if not data:
                break
            before = offset
            try:
                for at, header in iterate_batches(data):
                    if header.base_offset > dead.last:
                        return found
                    for record in iterate_records(data, at):
                        if dead.first <= record.offset <= dead.last:
                            found[record.offset] = record
                    before = header.next_offset
            except ProtocolError as error:
                _log.warning("%s: records cannot be copied: %s", partition.name, error)
                break
            if before <= offset:
                break
            offset = before
        return found


def _batches(records: Iterator[Record]) -> Iterator[bytearray]:
    """Batches of limited size, with offsets that begin with 0 in each."""
    gathered: list[Record] = []
    size = 0
    for record in records:
        gathered.append(record._replace(offset=Offset(len(gathered))))
        size += len(record.key or b"") + len(record.value or b"") + _BATCH_BYTES_MAX // 1_000
        if size >= _BATCH_BYTES_MAX:
            yield build_batch(gathered)
            gathered, size = [], 0
    if gathered:
        yield build_batch(gathered)
