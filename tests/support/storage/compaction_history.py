"""A compacted log with producers, transactions, compactions and crashes, beside what it must say.

The model is the list of all batches that were appended, as they were: what a reader finds in the
log is held against what he would find in that list.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from ottla.model import Offset, ProducerEpoch, ProducerId, TimestampMs
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.compaction import compact, plan_compaction, swap_in
from ottla.storage.compaction.offset_map import ENTRY_BYTES_MAX
from ottla.storage.directories.cleaner_offsets import CleanerOffsets
from ottla.storage.files.file_names import FileKind
from ottla.storage.log_config import LogConfig
from ottla.storage.producers.producer_entry import ProducerEntry
from ottla.storage.segments.interrupted_work import segment_files
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.control import read_end_transaction_marker
from ottla.wire.records.header import BatchHeader, read_header
from ottla.wire.records.record import Record, iterate_records
from tests.support.kafka.kafka_acceptance import assert_kafka_accepts
from tests.support.storage.compactions import (
    assert_indexes_agree,
    commit_all,
    latest_values,
    stored_records,
)
from tests.support.storage.log_checks import (
    aborted_in,
    all_batches,
    assert_only_files_of_segments,
    directory_content,
    replayed,
)
from tests.support.storage.logs import DATA, DIRECTORY, PARTITION, Checkpoints, marker, opened

IDEMPOTENT, TRANSACTIONAL = (1, 2), (3, 4, 5)
START_MS = 1_000_000


class Put(NamedTuple):
    """A batch: of keys by number, and the sizes of their values; none is a tombstone."""

    producer: int
    records: tuple[tuple[int, int | None], ...]
    codec: Codec


class End(NamedTuple):
    """The end of a producer's transaction, if one is open. The marker may raise the epoch."""

    producer: int
    commits: bool
    raises_epoch: bool


class Roll(NamedTuple):
    pass


class Flush(NamedTuple):
    with_checkpoint: bool


class Truncate(NamedTuple):
    """Back towards the high watermark."""

    part: float


class Compact(NamedTuple):
    """A compaction, some time later, with room for so many keys; and after so many changes to the
    disk the power goes, if it does."""

    later_ms: int
    keys_max: int
    power_off_after: int | None = None
    seed: int = 0


class Reopen(NamedTuple):
    """An end and a new beginning, without the producer snapshots if they are lost."""

    is_clean: bool
    loses_snapshots: bool


Operation = Put | End | Roll | Flush | Truncate | Compact | Reopen


class CompactionHistory:
    def __init__(self, config: LogConfig) -> None:
        self.config = config
        self.disk = SimulatedDisk()
        self.log = opened(self.disk, config, clean=True)
        self.now_ms = START_MS
        # Every batch as it was appended.
        self.batches: list[bytes] = []

    def run(self, operations: list[Operation]) -> None:
        for operation in operations:
            match operation:
                case Put():
                    self.put(operation)
                case End():
                    self.end(operation)
                case Roll():
                    self.log.roll(now_ms=self.now_ms)
                case Flush(with_checkpoint):
                    self.flush(with_checkpoint=with_checkpoint)
                case Truncate(part):
                    self.truncate(part)
                case Compact():
                    self.compact(operation)
                case Reopen():
                    self.reopen(operation)
        self.check()

    # ---- what happens

    def put(self, put: Put) -> None:
        producer = self.producer(put.producer)
        records = [
            Record(
                Offset(number),
                TimestampMs(self.tick()),
                b"key %d" % key + b"." * (key % 3 * 30),
                None if size is None else b"%d/%d " % (len(self.batches), number) + b"v" * size,
                (("number", b"%d" % number),) if key % 2 else (),
            )
            for number, (key, size) in enumerate(put.records)
        ]
        is_plain = put.producer not in IDEMPOTENT + TRANSACTIONAL
        sequence = 0 if producer is None else producer.last_sequence + 1
        epoch = 0 if producer is None else producer.producer_epoch
        self.append(
            build_batch(
                records,
                codec=put.codec,
                producer_id=ProducerId(-1 if is_plain else put.producer),
                producer_epoch=ProducerEpoch(-1 if is_plain else epoch),
                base_sequence=-1 if is_plain else sequence,
                is_transactional=put.producer in TRANSACTIONAL,
            ),
            Origin.CLIENT,
        )

    def end(self, end: End) -> None:
        producer = self.producer(end.producer)
        if producer is None or producer.current_txn_first_offset is None:
            return
        ending = marker(
            producer_id=end.producer,
            commit=end.commits,
            producer_epoch=producer.producer_epoch + end.raises_epoch,
            timestamp=self.tick(),
        )
        self.append(ending, Origin.COORDINATOR)

    def append(self, batch: bytearray, origin: Origin) -> None:
        self.log.append_as_leader(batch, leader_epoch=0, now_ms=self.now_ms, origin=origin)
        self.batches.append(bytes(batch))

    def producer(self, producer_id: int) -> ProducerEntry | None:
        return self.log.producers.state.entries.get(producer_id)

    def flush(self, *, with_checkpoint: bool) -> None:
        self.log.flush()
        if with_checkpoint:
            Checkpoints(self.disk).write(self.log)

    def truncate(self, part: float) -> None:
        committed, end = self.log.high_watermark, self.log.log_end_offset
        offset = committed + round((end - committed) * part)
        self.cleaner_offsets.truncate(PARTITION, offset)
        self.log.truncate_to(offset, now_ms=self.now_ms)
        self.forget_lost()

    def compact(self, operation: Compact) -> None:
        self.now_ms += operation.later_ms
        commit_all(self.log)
        if operation.power_off_after is None:
            self.compact_and_check(operation.keys_max)
            return
        self.disk.faults.power_off_after(operation.power_off_after)
        with suppress(PowerLost):
            self.compact_once(operation.keys_max)
        dice = SeededDice(operation.seed)
        self.disk.crash(dice)
        while not self.recover(dice):
            self.disk.crash(dice)
        self.check()

    def recover(self, dice: SeededDice) -> bool:
        """Opens the log after a crash, unless the power goes again."""
        if dice.chance(0.4):
            self.disk.faults.power_off_after(dice.below(30))
        try:
            self.log = opened(self.disk, self.config, now_ms=self.now_ms)
        except PowerLost:
            return False
        self.disk.faults.power_on()
        self.forget_lost()
        return True

    def reopen(self, reopen: Reopen) -> None:
        if reopen.is_clean:
            self.close()
        self.disk.kill()
        if reopen.loses_snapshots:
            for name in segment_files(self.disk, DIRECTORY):
                if name.kind is FileKind.PRODUCER_SNAPSHOT:
                    self.disk.remove(f"{DIRECTORY}/{name}")
        self.log = opened(self.disk, self.config, clean=reopen.is_clean, now_ms=self.now_ms)
        self.check()

    def close(self) -> None:
        self.log.close()
        Checkpoints(self.disk).write(self.log)
        assert_kafka_accepts(self.disk, DIRECTORY, compacted=True)

    # ---- compaction

    @property
    def cleaner_offsets(self) -> CleanerOffsets:
        return CleanerOffsets(self.disk, DATA)

    def compact_once(self, keys_max: int) -> int:
        """Where the log is clean up to afterwards."""
        first_dirty_offset = self.cleaner_offsets.first_dirty_offset(self.log)
        plan = plan_compaction(
            self.log,
            first_dirty_offset=first_dirty_offset,
            now_ms=self.now_ms,
            memory_bytes=keys_max * ENTRY_BYTES_MAX,
        )
        if plan is None:
            return first_dirty_offset
        result = compact(self.disk, plan)
        assert swap_in(self.log, result, now_ms=self.now_ms)
        self.cleaner_offsets.advance(PARTITION, result.first_dirty_offset)
        assert result.first_dirty_offset > first_dirty_offset, "no progress"
        return result.first_dirty_offset

    def compact_and_check(self, keys_max: int) -> None:
        with self.untouched_active_segment():
            clean_offset = self.compact_once(keys_max)
        self.log.retired.purge()
        self.check()
        self.check_clean_below(clean_offset)

    @contextmanager
    def untouched_active_segment(self) -> Iterator[None]:
        active, name = self.log.segments.active, f"{self.log.segments.active.base_offset:020d}."

        def files() -> dict[str, bytes]:
            content = directory_content(self.disk, DIRECTORY)
            return {path: data for path, data in content.items() if path.startswith(name)}

        before = files()
        yield
        assert self.log.segments.active is active
        assert files() == before

    # ---- what must hold

    def check(self) -> None:
        """The log says what all of its batches said; what is left of them is as it was."""
        commit_all(self.log)
        assert_indexes_agree(self.log)
        assert_only_files_of_segments(self.disk, self.log)
        whole = {record.offset: record for batch in self.batches for record in self.data(batch)}
        for record, _ in stored_records(self.log):
            assert record == whole[record.offset]
        assert latest_values(self.log) == self.expected_values()
        assert self.log.log_end_offset == self.end_offset
        self.check_producers()
        self.check_transaction_indexes()

    def check_producers(self) -> None:
        """Sequence numbers, epochs and open transactions are what all batches make of them."""
        expected = replayed(self.batches).state.entries
        found = self.log.producers.state.entries
        assert {each: _facts(entry) for each, entry in found.items()} == {
            each: _facts(entry) for each, entry in expected.items()
        }

    def check_transaction_indexes(self) -> None:
        """An aborted transaction is known while a batch of it is left, be it without records."""
        fates, ends = self.fates(), {entry.last_offset for entry in aborted_in(self.log).values()}
        for _, header, _ in all_batches(self.log):
            if fates.get(header.base_offset) is False:
                assert self.marker_of(header) in ends

    def marker_of(self, header: BatchHeader) -> int:
        """The offset of the marker that ends a batch's transaction."""
        return next(
            marker.base_offset
            for marker in map(read_header, self.batches)
            if marker.is_control
            and marker.producer_id == header.producer_id
            and marker.base_offset > header.base_offset
        )

    def check_clean_below(self, clean_offset: int) -> None:
        """No key twice, nothing aborted, no tombstone whose time is over."""
        keys: set[bytes | None] = set()
        decided = self.fates()
        for record, (_, header, _) in stored_records(self.log):
            if record.offset >= clean_offset:
                break
            assert record.key not in keys
            assert decided.get(header.base_offset) is not False
            assert record.value is not None or header.has_delete_horizon
            keys.add(record.key)

    def expected_values(self) -> dict[bytes, tuple[int, bytes]]:
        latest: dict[bytes, tuple[int, bytes] | None] = {}
        fates = self.fates()
        for batch in self.batches:
            header = read_header(batch)
            if header.base_offset >= self.log.last_stable_offset:
                break
            if fates.get(header.base_offset, True):
                for record in self.data(batch):
                    assert record.key is not None
                    value = record.value
                    latest[record.key] = None if value is None else (record.offset, value)
        return {key: found for key, found in latest.items() if found is not None}

    def fates(self) -> dict[int, bool]:
        """Whether a transaction's batch, by its offset, was committed; unless that is undecided."""
        found: dict[int, bool] = {}
        ongoing: dict[int, list[int]] = {}
        for batch in self.batches:
            header = read_header(batch)
            if header.is_control:
                ending = read_end_transaction_marker(next(iterate_records(batch)))
                for offset in ongoing.pop(header.producer_id, []):
                    found[offset] = ending.type.name == "COMMIT"
            elif header.is_transactional:
                ongoing.setdefault(header.producer_id, []).append(header.base_offset)
        return found

    def forget_lost(self) -> None:
        """Forgets the batches that a truncation or a crash took from the end."""
        end = self.log.log_end_offset
        self.batches = [batch for batch in self.batches if read_header(batch).next_offset <= end]

    @property
    def end_offset(self) -> int:
        return read_header(self.batches[-1]).next_offset if self.batches else 0

    def data(self, batch: bytes) -> list[Record]:
        return [] if read_header(batch).is_control else list(iterate_records(batch))

    def tick(self) -> int:
        self.now_ms += 1
        return self.now_ms - len(self.batches) % 3


def _facts(entry: ProducerEntry) -> tuple[object, ...]:
    """What has to survive in the log itself. Compaction may take the coordinator's epoch with the
    last marker, and a timestamp with the record that had it."""
    return (
        entry.producer_epoch,
        entry.current_txn_first_offset,
        entry.last_sequence,
        entry.last_data_offset,
        entry.last_offset_delta,
    )
