"""What the responses to fetch requests mean for the partitions: records, errors, new leaders."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from ottla.client.cluster import ClientCluster, PartitionLeader
from ottla.client.consuming.assigned_partition import AssignedPartition
from ottla.client.consuming.assignment import PartitionAssignment
from ottla.client.consuming.decoding.fetched_batches import FetchedBatches
from ottla.client.consuming.errors import PositionOutOfRangeError, UnreadableRecordsError
from ottla.client.consuming.fetch_node import FetchedFrom
from ottla.client.consuming.metrics import ConsumerMetrics
from ottla.client.consuming.prefetch_budget import FetchedMemory, PrefetchBudget
from ottla.client.consuming.properties import READ_COMMITTED, ConsumerSettings
from ottla.client.consuming.record_queue import ReadPosition
from ottla.client.errors import ClientError, error_for
from ottla.model import ErrorCode
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.fetch import PartitionData
from ottla.wire.records.batch import iterate_batches

_log = logging.getLogger(__name__)

_MOVED: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})


class FetchResponses:
    """Belongs to a consumer. `on_records` is called once for a response with records, `start_reset`
    with a partition whose position does not exist; it returns whether it resets it."""

    def __init__(
        self,
        cluster: ClientCluster,
        settings: ConsumerSettings,
        assignment: PartitionAssignment,
        budget: PrefetchBudget,
        metrics: ConsumerMetrics,
        *,
        on_records: Callable[[], None],
        start_reset: Callable[[AssignedPartition], bool],
        fail: Callable[[ClientError], None],
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._assignment = assignment
        self._budget = budget
        self._metrics = metrics
        self._on_records = on_records
        self._start_reset = start_reset
        self.fail = fail

    def take(
        self,
        node_id: int,
        answers: Sequence[tuple[FetchedFrom, PartitionData]],
        endpoints: Iterable[Any],
    ) -> bool:
        """Returns whether the metadata is stale."""
        is_stale = False
        with_records = []
        self._metrics.count("fetch-total")
        for asked, data in answers:
            partition = asked.partition
            if not self._assignment.is_current(partition, asked.version) or (
                partition.fetch_position != asked.position
            ):
                continue
            if data.error_code:
                is_stale |= self._take_error(node_id, asked, data, endpoints)
                continue
            self._note_offsets(node_id, partition, data)
            if data.records:
                with_records.append((asked, data))
        self._take_records(with_records)
        return is_stale

    def _note_offsets(
        self, node_id: int, partition: AssignedPartition, data: PartitionData
    ) -> None:
        partition.high_watermark = data.high_watermark
        partition.last_stable_offset = data.last_stable_offset
        if data.log_start_offset >= 0:
            partition.log_start_offset = data.log_start_offset
        replica = data.preferred_read_replica
        if replica >= 0 and replica != node_id:
            partition.read_replica = replica
            partition.read_replica_until = (
                self._cluster.clock.monotonic() + self._cluster.settings.metadata_max_age_ms / 1_000
            )

    def _take_records(self, answers: Sequence[tuple[FetchedFrom, PartitionData]]) -> None:
        if not answers:
            return
        memory = FetchedMemory(
            self._budget, sum(len(data.records or b"") for _, data in answers), len(answers)
        )
        for asked, data in answers:
            partition, records = asked.partition, data.records
            assert records is not None
            try:
                next_position = _behind(memoryview(records), asked.position)
            except ProtocolError as error:
                memory.release()
                offset = asked.position.offset
                _log.warning("%s: fetching offset %d again: %s", partition.name, offset, error)
                if not partition.queue and partition.found_unreadable():
                    self.fail(UnreadableRecordsError(partition.name, offset, str(error)))
                self._back_off(partition)
                continue
            self._metrics.count("fetched-bytes-total", len(records))
            fetched = FetchedBatches(
                records,
                data.aborted_transactions or (),
                position=asked.position.offset,
                is_read_committed=self._settings.isolation == READ_COMMITTED,
                checks_crcs=self._settings.checks_crcs,
                on_end=memory.release,
            )
            partition.append(fetched, len(records), next_position)
            self._assignment.note_ready(partition)
        self._on_records()

    def _take_error(
        self, node_id: int, asked: FetchedFrom, data: PartitionData, endpoints: Iterable[Any]
    ) -> bool:
        """Returns whether the metadata is stale."""
        partition = asked.partition
        code = data.error_code
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._out_of_range(node_id, partition)
            return False
        leader = data.current_leader
        if code in _MOVED and leader is not None and leader.leader_id >= 0:
            before = self._cluster.leader(partition.name)
            found = PartitionLeader(leader.leader_id, leader.leader_epoch)
            self._cluster.note_leader(partition.name, found, endpoints)
            if self._cluster.leader(partition.name) != before:
                # The response has named the new leader (KIP-951): no need to ask for it.
                return False
        partition.read_replica = None
        self._back_off(partition)
        error = error_for(code, f"fetching {partition.name}")
        if error.code is ErrorCode.CORRUPT_MESSAGE or not error.retriable:
            self.fail(error)
            return False
        _log.debug("%s", error)
        return True

    def _out_of_range(self, node_id: int, partition: AssignedPartition) -> None:
        if partition.read_replica == node_id:
            # A follower may be behind; its leader decides.
            partition.read_replica = None
        elif partition.queue:
            # What was fetched before is still there to be read.
            self._back_off(partition)
        else:
            position = partition.fetch_position.offset
            _log.info("%s: offset %d is out of range", partition.name, position)
            if not self._start_reset(partition):
                self._back_off(partition)
                self.fail(PositionOutOfRangeError({partition.name: position}))

    def _back_off(self, partition: AssignedPartition) -> None:
        partition.retry_at = self._cluster.clock.monotonic() + self._cluster.backoff(1)


def _behind(records: memoryview, position: ReadPosition) -> ReadPosition:
    """The position after all complete batches. Raises ProtocolError if there is none."""
    last = None
    for _, header in iterate_batches(records):
        last = header
    if last is None:
        raise ProtocolError(f"the response has {len(records)} bytes and no complete batch")
    if last.last_offset < position.offset:
        raise ProtocolError(f"the response ends at offset {last.last_offset}")
    return ReadPosition(last.last_offset + 1, last.leader_epoch)
