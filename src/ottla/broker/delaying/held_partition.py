"""The held records of a partition, on its leader: they are released when they are due.

    started ──▶ reading the log ──▶ waiting for the next due time ──▶ releasing ──▶ closed
                       ▲                        │      ▲                  │
                       └──────── appended ──────┘      └──────────────────┘

A release appends copies of the records to the same log, with the offsets that they were held at. So
the copy and the progress are one batch: a later leader finds both in its log or neither, and no
record is delivered twice or lost. Records become visible in the order of due time, then of offset.
A batch that is due at once waits behind records that are due and not released (delay_gate.py).

Invariants: a release is appended only when everything before it in the log is in the index, in the
same step of the loop, so that a cancellation that was answered takes effect; nothing is released
before it is due by this node's clock; records that were taken for a release count as held until it
is appended, and are kept until it is committed and on the device.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from crc32c import crc32c

from ottla.broker.delaying.delay_context import DelayContext
from ottla.broker.delaying.held_log import HeldLog
from ottla.broker.delaying.release_batch import DueRecord, release_batch
from ottla.model import Buffer, ErrorCode, KafkaError
from ottla.model.held_records import HeldRecords
from ottla.replication.partition import ACKS_ALL, Partition
from ottla.runtime.background import WorkerCrashedError
from ottla.runtime.wakeup import Wakeup
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.delays.due_entry import DueEntry
from ottla.storage.delays.due_run import merge_runs
from ottla.storage.delays.held_index import OPEN_BATCHES_MAX
from ottla.storage.files.file_slice import FileSlice
from ottla.storage.log.log import Log
from ottla.wire.errors import ProtocolError
from ottla.wire.records.encoded_record import split_record

_log = logging.getLogger(__name__)

_RELEASED_RECORDS_MAX: Final = 500
_RELEASED_BYTES_MAX: Final = 256 << 10
# Records that are due within this time are released together.
_PAUSE_SECONDS: Final = 0.005
# The wall clock may be set, so it is looked at this often while something is held.
_LOOK_SECONDS: Final = 1.0
_IDLE_SECONDS: Final = 3_600.0
_RETRY_SECONDS: Final = 0.1
# After failures the log is read again from its beginning, less and less often.
_START_OVER_SECONDS_MAX: Final = 30.0
_QUIET_SECONDS: Final = 30.0


class HeldPartition:
    """A `DelayGate`. Created when this node begins to lead the partition, and closed when it does
    not lead it any more. Owned by the node's loop."""

    def __init__(self, context: DelayContext, partition: Partition, log: Log) -> None:
        self.log = log
        self._context = context
        self._partition = partition
        self._held = HeldLog(context, log, partition.leader_epoch)
        # After a failure the index may lack records.
        self._has_to_start_over = False
        self._start_over_seconds = _RETRY_SECONDS
        # What was released has to be on the device before retention may delete the held records.
        self.flushes_to = 0
        self._taken: list[DueEntry] = []
        self._wakeup = Wakeup(context.clock)
        # What is due before wakes the task.
        self._sleeps_until_ms = 0
        self._is_releasing = False
        self._is_closed = False
        self._quiet_until = 0.0

    def start(self) -> None:
        self.log.delay_gate = self
        self._partition.when_appended(self, self._appended)
        self._context.tasks.start(f"held records of {self._partition.name}", self._run())

    def close(self) -> None:
        self._is_closed = True
        self._partition.forget(self)
        if self.log.delay_gate is self:
            self.log.delay_gate = None
        self._wakeup.wake()

    def _is_over(self) -> bool:
        """Whether it was closed, perhaps while the task waited."""
        return self._is_closed

    # ---- what is held

    @property
    def record_count(self) -> int:
        return self._held.index.counts.records

    @property
    def size(self) -> int:
        return self._held.index.counts.size

    @property
    def next_due_ms(self) -> int | None:
        if self._taken:
            return self._taken[0].due_ms
        first = self._first()
        return None if first is None else first.due_ms

    def describe(self) -> HeldRecords:
        is_loading = self._has_to_start_over or not self._held.has_caught_up
        return HeldRecords(self.record_count, self.size, self.next_due_ms, is_loading)

    # ---- the gate

    def is_behind(self, now_ms: int) -> bool:
        if self._taken or self._has_to_start_over or not self._held.has_caught_up:
            return True
        first = self._first()
        return first is not None and first.due_ms <= now_ms

    def require_room(self, record_count: int, size: int, *, cancels: bool) -> None:
        config, index = self.log.config, self._held.index
        if cancels:
            index.cancellations.require_room(
                self._context.clock.now_ms(), lambda: index.forget_cancellations(self.next_due_ms)
            )
        held = index.counts.records + index.open_records
        if held + record_count > config.delay_records_max:
            raise self._full(f"{held} records", "records", config.delay_records_max)
        held = index.counts.size + index.open_size
        if held + size > config.delay_bytes_max:
            raise self._full(f"{held} bytes", "bytes", config.delay_bytes_max)
        if index.open_batches >= OPEN_BATCHES_MAX:
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION,
                f"{self._partition.name} has {index.open_batches} held batches of open "
                "transactions; end some, or send larger batches",
            )

    def _full(self, held: str, limit: str, limit_max: int) -> KafkaError:
        return KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"{self._partition.name} holds {held} until they are due; "
            f"ottla.delivery.delay.{limit}.max is {limit_max}",
        )

    def oldest_offset(self) -> int:
        log, held = self.log, self._held
        held.index.counts.forget_below(log.segments.first.base_offset)
        if self._has_to_start_over or not held.has_caught_up:
            return log.log_start_offset
        unsettled = held.index.unsettled
        unsettled.settle(min(log.high_watermark, log.recovery_point))
        self.flushes_to = unsettled.end_below(log.high_watermark)
        oldest = held.index.oldest_offset()
        return log.log_end_offset if oldest is None else oldest

    # ---- the task

    def _appended(self, _size: int) -> None:
        """Called with each append, which has succeeded whatever happens here. The task meets an
        error again, and reports it."""
        if self._is_releasing or self._is_closed or self._has_to_start_over:
            return
        try:
            if self._held.catch_up_now():
                first, queue = self._first(), self._held.index.queue
                is_early = first is None or first.due_ms >= self._sleeps_until_ms
                if is_early and not queue.has_to_merge:
                    return
        except Exception:
            self._has_to_start_over = True
        self._wakeup.wake()

    def _first(self) -> DueEntry | None:
        try:
            return self._held.index.queue.first()
        except OSError:
            self._has_to_start_over = True
            raise

    async def _run(self) -> None:
        try:
            while not self._is_over():
                seconds = await self._try_step()
                if self._is_over():
                    return
                self._sleeps_until_ms = self._context.clock.now_ms() + int(seconds * 1_000)
                await self._wakeup.wait(seconds)
        finally:
            self._remove_files()

    async def _try_step(self) -> float:
        """One step, after which the task waits for as many seconds as this returns."""
        try:
            seconds = await self._step()
            self._start_over_seconds = _RETRY_SECONDS
            return seconds
        except KafkaError as error:
            # The partition has too few in-sync replicas, or another leader.
            self._warn(
                "cannot release held records of %s yet: %s", self._partition.name, error.message
            )
            return _RETRY_SECONDS
        except (ProtocolError, WorkerCrashedError) as error:
            self._warn("held records of %s cannot be read: %s", self._partition.name, error)
        except OSError as error:
            if not self._is_closed and self._partition.log is self.log:
                self._context.failures.partition_failed(self._partition, error)
        except Exception:
            # Whatever is wrong with one partition's records, the others go on.
            _log.exception("held records of %s wait after an error", self._partition.name)
        self._has_to_start_over = True
        seconds = self._start_over_seconds
        self._start_over_seconds = min(seconds * 2, _START_OVER_SECONDS_MAX)
        return seconds

    def _start_over(self) -> None:
        self._remove_files()
        self._held = HeldLog(self._context, self.log, self._partition.leader_epoch)
        self._taken = []
        self._has_to_start_over = False

    async def _step(self) -> float:
        if self._has_to_start_over or self._held.is_torn:
            self._start_over()
        held, clock = self._held, self._context.clock
        self._put_back()
        if not held.has_caught_up:
            await held.catch_up(forgets=True)
        await self._maybe_merge()
        if self._is_over():
            return 0.0
        await self._release()
        first = self._first()
        if first is None:
            return _IDLE_SECONDS
        left = (first.due_ms - clock.now_ms()) / 1_000
        return min(max(left, _PAUSE_SECONDS), _LOOK_SECONDS)

    async def _maybe_merge(self) -> None:
        queue = self._held.index.queue
        merge = queue.begin_merge()
        if merge is not None:
            compute = self._context.background.compute
            count = await compute(merge_runs, queue.disk, merge.parts, merge.path)
            if not self._is_closed:
                queue.complete_merge(merge, count)

    # ---- releasing

    async def _release(self) -> None:
        """Releases everything that is due, one batch in each step of the loop."""
        while not self._has_to_stop() and self._take_due():
            due = await self._read_taken()
            while not self._held.catch_up_now():
                await self._held.catch_up()
            if self._has_to_stop():
                return
            self._append(due)
            await self._context.clock.sleep(0)

    def _has_to_stop(self) -> bool:
        """Whether it was closed, or the index may lack records since the task waited."""
        return self._is_closed or self._has_to_start_over

    def _take_due(self) -> bool:
        assert not self._taken
        queue, now_ms, size = self._held.index.queue, self._context.clock.now_ms(), 0
        while len(self._taken) < _RELEASED_RECORDS_MAX and size < _RELEASED_BYTES_MAX:
            first = queue.first()
            if first is None or first.due_ms > now_ms:
                break
            self._taken.append(queue.pop())
            size += first.size
        return bool(self._taken)

    async def _read_taken(self) -> list[DueRecord]:
        """The records with their bytes. DeleteRecords may have deleted some."""
        start = self.log.log_start_offset
        entries = [each for each in self._taken if each.offset >= start]
        slices = [self._slice_of(entry) for entry in entries]
        parts: list[Buffer | None] = [each.read_cached() for each in slices]
        if None in parts:
            parts = await self._context.background.run(_read_all, slices)
        due = []
        for entry, part in zip(entries, parts, strict=True):
            data = bytes(part or b"")
            if crc32c(data) != entry.checksum:
                raise ProtocolError(f"the record that was held at offset {entry.offset} is damaged")
            due.append(DueRecord(entry, split_record(data)[0]))
        return due

    def _slice_of(self, entry: DueEntry) -> FileSlice:
        segment = self.log.segments.containing(entry.offset)
        assert segment is not None, "the first segment has the log start offset"
        return FileSlice(segment.log_file, entry.position, entry.size)

    def _append(self, due: Sequence[DueRecord]) -> None:
        """Appends what was not cancelled. Nothing else runs from the index's last look at the log
        until the release is in it."""
        held, context = self._held, self._context
        cancelled = held.index.cancellations
        wanted = [each for each in due if not cancelled.covers(each.record.key, each.entry.offset)]
        now_ms = context.clock.now_ms()
        if wanted:
            batch = release_batch(wanted, self.log.config)
            self._is_releasing = True
            try:
                result = self._partition.append(
                    batch.records,
                    now_ms=now_ms,
                    origin=Origin.COORDINATOR,
                    acks=ACKS_ALL,
                    opened=batch,
                )
            finally:
                self._is_releasing = False
            held.skip_released(result.last_offset + 1)
        held.index.removed(self._taken, self.log.log_end_offset)
        self._taken = []
        context.metrics.released.add(len(wanted))
        context.metrics.cancelled.add(len(due) - len(wanted))
        if wanted:
            context.metrics.lateness.record((now_ms - wanted[0].entry.due_ms) / 1_000)

    def _put_back(self) -> None:
        taken, self._taken = self._taken, []
        for entry in taken:
            self._held.index.queue.add(entry)

    def _remove_files(self) -> None:
        """A log that was deleted or has failed has no files any more."""
        try:
            self._held.index.queue.close()
        except OSError as error:
            _log.debug("files of held records of %s remain: %s", self._partition.name, error)

    def _warn(self, text: str, *values: object) -> None:
        now = self._context.clock.monotonic()
        if now >= self._quiet_until:
            self._quiet_until = now + _QUIET_SECONDS
            _log.warning(text, *values)


def _read_all(slices: Sequence[FileSlice]) -> list[Buffer | None]:
    return [each.read() for each in slices]
