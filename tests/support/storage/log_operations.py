"""Everything that a log can be asked to do, by chance, beside a list that says what it must hold.

The dice decide what is done and with what: seeded ones make a history that can be repeated
(log_history.py), Hypothesis' own make one that it can shrink (property/test_log_model.py). The
bounds here are what a crash in the middle of an operation may leave.
"""

from __future__ import annotations

from ottla.model import LeaderEpoch, Offset
from ottla.runtime.dice import Dice
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.log.flush import Flush
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.wire.records.batch import assign_offset_and_epoch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import HEADER_BYTES, read_header
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import (
    all_batches,
    assert_only_files_of_segments,
    assert_producers_are,
    assert_sound,
    replayed,
)
from tests.support.storage.logs import NOW_MS, Checkpoints, marker, opened

PLAIN, IDEMPOTENT, TRANSACTIONAL = (-1,), (1, 2), (3, 4, 5)


class LogOperations:
    """A log on a simulated disk, and the batches that have to be in it."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.disk = SimulatedDisk()
        self.config = LogConfig(
            segment_bytes=dice.choice((1_500, 5_000, 20_000)),
            index_interval_bytes=dice.choice((0, 300, 1_500)),
            segment_index_bytes=dice.choice((120, 1 << 20)),
            file_delete_delay_ms=dice.choice((0, 60_000)),
        )
        self.log: Log = opened(self.disk, self.config, clean=True)
        self.epoch = 0
        self.time = 1_000
        self.under_way: Flush | None = None
        # Every batch since the log last began anew, deleted ones included; then what an append that
        # has not returned may have added.
        self.batches: list[bytes] = []
        self.pending: list[bytes] = []
        # What is below is on the device; what is below was written.
        self.synced = self.written = 0
        # The log's first segment begins between these.
        self.first_min = self.first_max = 0
        # A log that is being truncated fully may be found empty, beginning anywhere.
        self.may_be_empty = False
        # Where a state of producers may have been built from.
        self.starts = {0}
        # The highest start that the log ever had.
        self.deleted_before = 0

    @property
    def end(self) -> int:
        return self.end_of(self.batches)

    def end_of(self, batches: list[bytes]) -> int:
        """Where a log of these batches ends; it may have begun anew after them."""
        return max(read_header(batches[-1]).next_offset if batches else 0, self.first_min)

    @property
    def checkpoints(self) -> Checkpoints:
        return Checkpoints(self.disk)

    def append(self) -> None:
        batch = self.make_batch()
        self.place(batch, self.end)
        self.pending = [bytes(batch)]
        self.send(bytes(batch) if self.dice.chance(0.5) else batch)
        self.appended()

    def append_as_follower(self) -> None:
        if self.dice.chance(0.3):
            self.epoch += 1
        batches = [self.make_batch()]
        for _ in range(self.dice.below(4)):
            batches.append(batch_of(*self.values(), timestamp=self.tick(), codec=self.codec()))
        self.dice.shuffle(batches)
        end = self.end
        for batch in batches:
            self.place(batch, end)
            self.pending.append(bytes(batch))
            end = self.end_of(self.pending)
        cut_off = self.pending[0][: self.dice.below(HEADER_BYTES)]
        self.log.append_as_follower(
            b"".join([*self.pending, cut_off]), leader_epoch=self.epoch, now_ms=NOW_MS
        )
        self.appended()

    def append_to_a_full_disk(self) -> None:
        """What does not fit leaves the log as it was."""
        self.disk.limit_space(self.dice.choice((0, 50, 300, 2_000)))
        try:
            self.dice.choice((self.append, self.append_as_follower))()
        except OSError:
            self.pending = []
            # The transaction index may have been full, and producers were replayed.
            self.starts.add(self.log.segments.first.base_offset)
            assert self.log.log_end_offset == self.end
        finally:
            self.disk.limit_space(None)

    def appended(self) -> None:
        self.batches += self.pending
        self.pending = []
        self.written = self.end
        assert self.log.log_end_offset == self.end

    def send(self, batch: bytes | bytearray) -> None:
        """Appends a batch that is new to the log."""
        header = read_header(batch)
        origin = Origin.COORDINATOR if header.is_control else Origin.CLIENT
        result = self.log.append_as_leader(
            batch, leader_epoch=header.leader_epoch, now_ms=NOW_MS, origin=origin
        )
        assert result[:2] == (header.base_offset, header.last_offset)
        assert not result.is_duplicate

    def make_batch(self) -> bytearray:
        """What a producer may send next, or a marker that ends its transaction."""
        dice, entries = self.dice, self.log.producers.state.entries
        producer_id = dice.choice(dice.choice((PLAIN, IDEMPOTENT, TRANSACTIONAL)))
        entry = entries.get(producer_id)
        is_open = entry is not None and entry.current_txn_first_offset is not None
        producer_epoch = 0 if entry is None else entry.producer_epoch
        if is_open and dice.chance(0.4):
            return marker(
                producer_id=producer_id,
                commit=dice.chance(0.5),
                producer_epoch=producer_epoch,
                coordinator_epoch=dice.below(2) if entry is None else entry.coordinator_epoch + 1,
                timestamp=self.tick(),
            )
        sequence = 0 if entry is None else entry.last_sequence + 1
        if entry is not None and not is_open and dice.chance(0.1):
            producer_epoch, sequence = producer_epoch + 1, 0
        return batch_of(
            *self.values(),
            timestamp=self.tick(),
            codec=self.codec(),
            producer_id=producer_id,
            producer_epoch=producer_epoch if producer_id > 0 else -1,
            sequence=sequence if producer_id > 0 else -1,
            is_transactional=producer_id in TRANSACTIONAL,
        )

    def values(self) -> list[bytes]:
        size = self.dice.choice((0, 10, 100, 700, 2_500))
        return [bytes([self.dice.below(256)]) * size] * self.dice.between(low=1, high=3)

    def codec(self) -> Codec:
        return self.dice.choice(tuple(Codec)) if self.dice.chance(0.2) else Codec.NONE

    def tick(self) -> int:
        self.time += self.dice.choice((0, 1, 10))
        return self.time - self.dice.choice((0, 0, 5))

    def place(self, batch: bytearray, base_offset: int) -> None:
        if self.dice.chance(0.05):
            self.epoch += 1
        assign_offset_and_epoch(
            batch, 0, base_offset=Offset(base_offset), leader_epoch=LeaderEpoch(self.epoch)
        )

    def repeat(self) -> None:
        """Sends a remembered batch again: nothing is written, the answer is the first one's."""
        remembered = {
            (producer_id, batch.last_offset)
            for producer_id, entry in self.log.producers.state.entries.items()
            for batch in entry.batches
        }
        known = [
            batch
            for batch in self.batches
            if not (header := read_header(batch)).is_control
            and (header.producer_id, header.last_offset) in remembered
        ]
        if not known:
            return
        batch = self.dice.choice(known)
        writes = self.disk.counters.writes
        result = self.log.append_as_leader(batch, leader_epoch=self.epoch, now_ms=NOW_MS)
        header = read_header(batch)
        assert result.is_duplicate
        assert result[:2] == (header.base_offset, header.last_offset)
        assert self.disk.counters.writes == writes

    def flush(self) -> None:
        self.complete_flush()
        self.log.flush()
        self.synced = self.end
        assert self.log.recovery_point == self.end
        if self.dice.chance(0.7):
            self.checkpoints.write(self.log)

    def prepare_flush(self) -> None:
        self.under_way = self.under_way or self.log.prepare_flush()

    def run_flush(self) -> None:
        if self.under_way is not None:
            self.under_way.run()

    def complete_flush(self) -> None:
        if self.under_way is not None:
            flush, self.under_way = self.under_way, None
            flush.run()
            self.log.complete_flush(flush)
            self.synced = max(self.synced, self.log.recovery_point)

    def roll(self) -> None:
        self.log.roll(now_ms=NOW_MS)

    def truncate(self) -> None:
        offset = self.dice.between(low=self.log.segments.first.base_offset, high=self.end)
        kept = [batch for batch in self.batches if read_header(batch).next_offset <= offset]
        end = self.end_of(kept)
        self.synced, self.written = min(self.synced, end), end
        self.log.truncate_to(offset, now_ms=NOW_MS)
        self.batches = kept
        self.starts.add(self.log.segments.first.base_offset)
        assert self.log.log_end_offset == end

    def truncate_fully(self) -> None:
        self.complete_flush()
        start = self.end + self.dice.choice((0, 1, 100))
        self.may_be_empty = True
        self.first_max = start
        self.synced = self.written = 0
        self.log.truncate_fully(start, now_ms=NOW_MS)
        self.checkpoints.write(self.log)
        self.may_be_empty = False
        self.batches = []
        self.starts = {start}
        self.synced = self.written = self.first_min = start

    def delete(self) -> None:
        """Commits, and deletes records before some offset."""
        self.log.advance_high_watermark(self.end)
        low = self.log.log_start_offset
        offset = self.dice.between(low=low, high=self.end)
        self.log.delete_records_before(offset)
        self.deleted_before = max(self.deleted_before, offset)
        if self.dice.chance(0.5):
            self.checkpoints.write(self.log)

    def expire(self) -> None:
        self.first_max = max(self.log.log_start_offset, self.first_max)
        self.log.delete_expired_segments(now_ms=NOW_MS)
        self.log.retired.purge(now_ms=NOW_MS)
        self.first_min = self.first_max = self.log.segments.first.base_offset

    def check(self) -> None:
        """The log holds the batches, and everything else follows from them."""
        log = self.log
        assert_sound(log, deleted_before=self.deleted_before)
        assert_only_files_of_segments(self.disk, log)
        headers = [read_header(batch) for batch in self.batches]
        first = log.segments.first.base_offset
        deleted = sum(header.next_offset <= first for header in headers)
        assert [batch.data for batch in all_batches(log)] == self.batches[deleted:]
        replays = []
        for start in self.starts:
            unknown = sum(header.base_offset < start for header in headers)
            replays.append(replayed(self.batches[unknown:]))
        assert_producers_are(log, *replays)
