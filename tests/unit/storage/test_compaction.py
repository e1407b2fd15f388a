"""What compaction keeps, what it drops, and what it never touches."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.model import KafkaError, Offset, ProducerEpoch, ProducerId, TimestampMs
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.compaction import compact, swap_in
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import FileKind
from ottla.storage.log.log import Log
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import TimestampType
from ottla.wire.records.record import Record
from tests.support.storage.batches import batch_of
from tests.support.storage.compactions import (
    assert_indexes_agree,
    commit_all,
    committed_records,
    compacted,
    latest_values,
    offsets,
    planned,
    roll_and_commit,
    stored_records,
)
from tests.support.storage.log_checks import all_batches, directory_content, stored_batches
from tests.support.storage.logs import (
    DIRECTORY,
    NOW_MS,
    append,
    base_offsets,
    end_transaction,
    new_log,
    opened,
)

DAY_MS = 24 * 3600 * 1000


def put(log: Log, key: bytes | None, value: bytes | None, **options: Any) -> int:
    return append(log, batch_of(value, key=key, **options)).first_offset


def compacted_log(**config: Any) -> Log:
    """A log that is due for compaction whenever anything in it is dirty."""
    return new_log(compact=True, delete=False, min_cleanable_dirty_ratio=0.0, **config)


def test_of_100_records_of_one_key_the_last_is_left() -> None:
    log = compacted_log()
    for number in range(100):
        put(log, b"key", b"value %d" % number)
    roll_and_commit(log)
    compacted(log)
    assert offsets(log) == [99]
    assert latest_values(log) == {b"key": (99, b"value 99")}
    assert log.log_start_offset == 0
    assert log.log_end_offset == 100


def test_active_segment_is_untouched() -> None:
    log = compacted_log()
    put(log, b"key", b"old")
    roll_and_commit(log)
    put(log, b"key", b"new")
    put(log, b"key", b"newer")
    log.flush()
    commit_all(log)
    active = log.segments.active
    before = {
        name: content
        for name, content in directory_content(log.disk, DIRECTORY).items()
        if name.startswith(f"{active.base_offset:020d}")
    }
    compacted(log)
    assert log.segments.active is active
    after = directory_content(log.disk, DIRECTORY)
    assert {name: after[name] for name in before} == before
    # What supersedes a record from the active segment on does so in the next compaction.
    assert offsets(log) == [0, 1, 2]


def test_batch_of_which_everything_stays_is_copied_byte_for_byte() -> None:
    log = compacted_log()
    put(log, b"key", b"old")
    append(log, batch_of(b"value", key=b"other", codec=Codec.ZSTD, producer_id=7, sequence=0))
    put(log, b"key", b"new")
    roll_and_commit(log)
    original = [batch.data for batch in all_batches(log)]
    compacted(log)
    assert [batch.data for batch in all_batches(log)] == original[1:]


@pytest.mark.parametrize("codec", list(Codec))
def test_batch_that_loses_records_keeps_offsets_sequences_and_codec(codec: Codec) -> None:
    log = compacted_log()
    records = [
        Record(Offset(number), TimestampMs(1_000 + number), b"key %d" % (number % 3), b"v" * 50)
        for number in range(5)
    ]
    append(
        log,
        build_batch(
            records,
            codec=codec,
            producer_id=ProducerId(7),
            producer_epoch=ProducerEpoch(0),
            base_sequence=0,
        ),
    )
    roll_and_commit(log)
    before = all_batches(log)[0].header
    compacted(log)
    (batch,) = all_batches(log)
    assert [record for record, _ in stored_records(log)] == records[2:]
    assert batch.header.codec is codec
    assert batch.header.base_offset == before.base_offset
    assert batch.header.last_offset == before.last_offset
    assert batch.header.last_sequence == before.last_sequence
    assert batch.header.max_timestamp == 1_004
    assert batch.header.record_count == 3


def test_max_timestamp_is_that_of_the_records_that_stay() -> None:
    log = compacted_log()
    records = [
        Record(Offset(0), TimestampMs(5_000), b"gone", b"1"),
        Record(Offset(1), TimestampMs(2_000), b"stays", b"2"),
    ]
    append(log, build_batch(records))
    put(log, b"gone", b"3", timestamp=1_000)
    roll_and_commit(log)
    compacted(log)
    assert [batch.header.max_timestamp for batch in all_batches(log)] == [2_000, 1_000]
    assert log.segments.first.max_timestamp.timestamp == 2_000


def test_log_append_time_stays() -> None:
    log = compacted_log(message_timestamp_type=TimestampType.LOG_APPEND_TIME)
    append(log, batch_of(b"1", b"2", key=b"key"), now_ms=7_000)
    put(log, b"other", None)
    roll_and_commit(log)
    compacted(log)
    assert [record.timestamp for record, _ in stored_records(log)] == [7_000, NOW_MS]


def test_records_without_a_key_go() -> None:
    log = compacted_log()
    log.config = new_log(compact=False).config
    put(log, None, b"no key")
    put(log, b"key", b"value")
    log.config = compacted_log().config
    roll_and_commit(log)
    compacted(log)
    assert offsets(log) == [1]


def test_long_keys_are_distinguished() -> None:
    log = compacted_log()
    for length in (46, 47, 48, 49, 64, 300):
        put(log, b"k" * length, b"old")
    for length in (46, 47, 48, 49, 64, 300):
        put(log, b"k" * length, b"new")
    roll_and_commit(log)
    compacted(log)
    assert offsets(log) == list(range(6, 12))


def test_small_segments_merge_and_large_ones_do_not() -> None:
    log = compacted_log(segment_bytes=1_000)
    for number in range(12):
        put(log, b"key %d" % (number % 6), b"v" * 300)
        if number % 2:
            log.roll(now_ms=NOW_MS)
    roll_and_commit(log)
    assert base_offsets(log) == [0, 2, 4, 6, 8, 10, 12]
    first = compacted(log)
    assert offsets(log) == [6, 7, 8, 9, 10, 11]
    # Two records in a segment of 1,000 bytes, so nothing merged; now two of four are empty.
    assert base_offsets(log) == [0, 2, 4, 6, 8, 10, 12]
    put(log, b"key 0", b"new")
    roll_and_commit(log)
    compacted(log, first_dirty_offset=first.first_dirty_offset)
    assert base_offsets(log) == [0, 8, 10, 13]
    assert offsets(log) == [7, 8, 9, 10, 11, 12]
    assert_indexes_agree(log)


def test_segment_of_which_nothing_stays_is_left_with_the_header_of_its_last_batch() -> None:
    log = compacted_log(segment_bytes=300)
    for _ in range(5):
        put(log, b"key", b"v" * 200)
    roll_and_commit(log)
    compacted(log)
    assert base_offsets(log) == [0, 1, 2, 3, 4, 5]
    assert [batch.header.record_count for batch in all_batches(log)] == [0, 0, 0, 0, 1]
    assert_indexes_agree(log)


def test_reading_leaps_over_what_is_gone() -> None:
    log = compacted_log(segment_bytes=300)
    for _ in range(5):
        put(log, b"key", b"v" * 200)
    roll_and_commit(log)
    result = compacted(log)
    put(log, b"other", b"v")
    roll_and_commit(log)
    compacted(log, first_dirty_offset=result.first_dirty_offset)
    fetched = log.read(0, bytes_max=1 << 20, upper_offset=log.log_end_offset)
    assert fetched is not None
    assert latest_values(log).keys() == {b"key", b"other"}


def test_map_that_is_full_ends_the_compaction_in_the_middle_of_a_batch() -> None:
    log = compacted_log()
    for _ in range(2):
        records = [
            Record(Offset(number), TimestampMs(1_000), b"%d" % number, b"v") for number in range(10)
        ]
        append(log, build_batch(records))
    roll_and_commit(log)
    first_dirty_offset, rounds = 0, []
    while first_dirty_offset < 20:
        result = compacted(log, first_dirty_offset=first_dirty_offset, memory_bytes=218 * 4)
        first_dirty_offset = result.first_dirty_offset
        rounds.append((first_dirty_offset, offsets(log)))
    assert rounds == [
        (4, list(range(20))),
        (8, list(range(20))),
        (12, list(range(2, 20))),
        (16, list(range(6, 20))),
        (20, list(range(10, 20))),
    ]


def test_corrupt_batch_stops_compaction_and_nothing_is_replaced() -> None:
    disk = SimulatedDisk()
    log = new_log(disk, compact=True)
    for _ in range(3):
        put(log, b"key", b"v" * 200)
    roll_and_commit(log)
    log.flush()
    path = log.segments.first.path(FileKind.LOG)
    position = stored_batches(log.segments.first)[1].position
    disk.flip_bit(path, position=position + 100, bit=3)
    before = directory_content(disk, DIRECTORY)
    with pytest.raises(CorruptLogError, match=f"{path} is corrupt at byte {position}"):
        compacted(log)
    assert directory_content(disk, DIRECTORY) == before


def test_a_log_whose_directory_has_another_owner_replaces_nothing() -> None:
    """Its topic was deleted during the compaction, and restored, so the directory is there."""
    disk = SimulatedDisk()
    log = new_log(disk, compact=True)
    for _ in range(3):
        put(log, b"key", b"v" * 200)
    roll_and_commit(log)
    log.flush()
    before = directory_content(disk, DIRECTORY)
    result = compact(disk, planned(log))
    log.abandon()
    assert not swap_in(log, result, now_ms=NOW_MS)
    assert directory_content(disk, DIRECTORY) == before


def test_open_transaction_holds_compaction_back() -> None:
    log = compacted_log()
    put(log, b"key", b"1")
    put(log, b"key", b"2")
    log.roll(now_ms=NOW_MS)
    put(log, b"key", b"3")
    put(log, b"key", b"4", producer_id=7, sequence=0, is_transactional=True)
    roll_and_commit(log)
    assert planned(log).end_offset == 2
    compacted(log)
    assert offsets(log) == [1, 2, 3]
    end_transaction(log, producer_id=7, commit=True)
    commit_all(log)
    compacted(log)
    assert offsets(log) == [3]


def test_records_of_aborted_transactions_go_and_supersede_nothing() -> None:
    log = compacted_log()
    put(log, b"key", b"good")
    put(log, b"key", b"aborted", producer_id=7, sequence=0, is_transactional=True)
    end_transaction(log, producer_id=7, commit=False)
    put(log, b"other", b"v", producer_id=7, sequence=1, is_transactional=True)
    end_transaction(log, producer_id=7, commit=True)
    roll_and_commit(log)
    compacted(log)
    assert offsets(log) == [0, 3]
    assert latest_values(log) == {b"key": (0, b"good"), b"other": (3, b"v")}


def test_producer_that_aborts_and_then_commits_is_mapped() -> None:
    """The first pass begins after the end of the aborted transaction, which the index still has."""
    log = compacted_log()
    put(log, b"key", b"aborted", producer_id=7, sequence=0, is_transactional=True)
    end_transaction(log, producer_id=7, commit=False)
    put(log, b"key", b"1")
    roll_and_commit(log)
    result = compacted(log)
    put(log, b"key", b"2", producer_id=7, sequence=1, is_transactional=True)
    end_transaction(log, producer_id=7, commit=True)
    roll_and_commit(log)
    compacted(log, first_dirty_offset=result.first_dirty_offset)
    assert offsets(log) == [3]


def marker_offsets(log: Log) -> list[int]:
    return [batch.header.base_offset for batch in all_batches(log) if batch.header.is_control]


@pytest.mark.parametrize("commit", [True, False])
def test_marker_goes_when_its_transaction_is_gone_and_its_horizon_has_passed(commit: bool) -> None:
    log = compacted_log()
    put(log, b"key", b"1", producer_id=7, sequence=0, is_transactional=True)
    end_transaction(log, producer_id=7, commit=commit)
    put(log, b"key", b"2", producer_id=7, sequence=1, is_transactional=False)
    now_ms = NOW_MS

    def again() -> None:
        put(log, b"more", b"v")
        roll_and_commit(log)
        compacted(log, now_ms=now_ms)

    again()
    # The transaction's batch was there when this compaction began.
    assert marker_offsets(log) == [1]
    assert len(list(log.segments.first.transaction_index.entries())) == (0 if commit else 1)
    again()
    (marker,) = (batch for batch in all_batches(log) if batch.header.is_control)
    assert marker.header.delete_horizon_ms == NOW_MS + DAY_MS
    assert list(log.segments.first.transaction_index.entries()) == []
    now_ms += DAY_MS - 1
    again()
    assert marker_offsets(log) == [1]
    now_ms += 1
    again()
    assert marker_offsets(log) == []


def test_tombstone_stays_until_its_delete_horizon() -> None:
    log = compacted_log()
    put(log, b"key", b"1")
    put(log, b"key", None, timestamp=1_234)
    roll_and_commit(log)
    result = compacted(log)
    (stored,) = stored_records(log)
    assert stored.record[:4] == (1, 1_234, b"key", None)
    assert stored.batch.header.delete_horizon_ms == NOW_MS + DAY_MS
    assert stored.batch.header.max_timestamp == 1_234
    for now_ms, left in ((NOW_MS + DAY_MS - 1, [1, 2]), (NOW_MS + DAY_MS, [3])):
        put(log, b"other", b"v")
        roll_and_commit(log)
        result = compacted(log, first_dirty_offset=result.first_dirty_offset, now_ms=now_ms)
        assert offsets(log) == left


def test_delete_horizon_that_no_timestamp_can_be_measured_from_is_not_set() -> None:
    log = compacted_log()
    batch = build_batch([Record(Offset(0), TimestampMs(-(2**63)), b"key", None)])
    log.append_as_follower(batch, leader_epoch=9, now_ms=NOW_MS)
    roll_and_commit(log)
    compacted(log)
    assert offsets(log) == [0]
    assert not all_batches(log)[0].header.has_delete_horizon


def test_last_batch_of_a_producer_stays_without_records() -> None:
    log = compacted_log()
    put(log, b"key", b"1", producer_id=7, sequence=0)
    put(log, b"key", b"2", producer_id=7, sequence=1)
    put(log, b"key", b"3")
    put(log, b"key", b"4")
    roll_and_commit(log)
    compacted(log)
    assert [(b.header.base_offset, b.header.record_count) for b in all_batches(log)] == [
        (1, 0),
        (3, 1),
    ]
    assert append(log, batch_of(b"2", key=b"key", producer_id=7, sequence=1)).is_duplicate
    assert put(log, b"key", b"5", producer_id=7, sequence=2) == 4


def test_the_only_marker_with_a_producers_epoch_stays() -> None:
    disk = SimulatedDisk()
    log = new_log(disk, compact=True, min_cleanable_dirty_ratio=0.0)
    put(log, b"key", b"1", producer_id=7, sequence=0, is_transactional=True)
    end_transaction(log, producer_id=7, commit=True, producer_epoch=1)
    for number in range(3):
        put(log, b"key", b"2")
        roll_and_commit(log)
        compacted(log, now_ms=NOW_MS + number * DAY_MS)
    assert [batch.header.record_count for batch in all_batches(log)] == [1, 1]
    log.flush()
    for name in disk.list_directory(DIRECTORY):
        if name.endswith(".snapshot"):
            disk.remove(f"{DIRECTORY}/{name}")
    log = opened(disk, log.config)
    assert log.producers.state.entries[7].producer_epoch == 1
    with pytest.raises(KafkaError, match="INVALID_PRODUCER_EPOCH"):
        put(log, b"key", b"3", producer_id=7, sequence=1)


@pytest.mark.parametrize("commits", [True, False])
def test_a_follower_learns_how_a_transaction_ended_that_its_leader_has_compacted(
    commits: bool,
) -> None:
    leader, follower = (compacted_log(delete_retention_ms=0) for _ in range(2))
    put(leader, b"key", b"old")
    put(leader, b"key", b"new", producer_id=7, sequence=0, is_transactional=True)
    catch_up(follower, leader)
    end_transaction(leader, producer_id=7, commit=commits, producer_epoch=1)
    dirty = 0
    for number in range(3):
        put(leader, b"key" if commits else b"other", b"last")
        roll_and_commit(leader)
        result = compacted(leader, first_dirty_offset=dirty, now_ms=NOW_MS + number)
        dirty = result.first_dirty_offset
    assert 1 not in offsets(leader)

    catch_up(follower, leader)
    commit_all(follower)
    assert follower.last_stable_offset == follower.log_end_offset
    read = [record.value for record in committed_records(follower)]
    assert (b"new" in read) is commits
    # So it can be compacted, whatever the producer does next.
    put(leader, b"key", b"no", producer_id=7, producer_epoch=1, sequence=0, is_transactional=True)
    end_transaction(leader, producer_id=7, commit=False, producer_epoch=2)
    catch_up(follower, leader)
    roll_and_commit(follower)
    compacted(follower)
    assert latest_values(follower)[b"key"][1] == (b"last" if commits else b"old")


def catch_up(follower: Log, leader: Log) -> None:
    """Fetches all that its leader has."""
    while follower.log_end_offset < leader.log_end_offset:
        piece = leader.read(
            follower.log_end_offset, bytes_max=1 << 20, upper_offset=leader.log_end_offset
        )
        assert piece is not None
        follower.append_as_follower(piece.read(), leader_epoch=0, now_ms=NOW_MS)
