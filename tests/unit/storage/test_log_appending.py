from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.log.append_result import AppendResult
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import TimestampType
from ottla.wire.records.record import iterate_records
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import all_batches, assert_sound
from tests.support.storage.logs import append, as_leader_has_it, fetched, marker, new_log, read_all


def code_of(error: pytest.ExceptionInfo[KafkaError]) -> ErrorCode:
    return error.value.code


def test_batches_get_the_offsets_after_the_end_of_the_log() -> None:
    log = new_log()

    results = [append(log, batch_of(b"a", b"b", b"c")), append(log, batch_of(b"d"))]

    assert results == [AppendResult(0, 2, -1, False), AppendResult(3, 3, -1, False)]
    assert log.log_end_offset == 4
    stored = all_batches(log)
    assert [batch.header.base_offset for batch in stored] == [0, 3]
    assert [record.offset for batch in stored for record in iterate_records(batch.data)] == [
        *range(4)
    ]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_an_append_changes_offset_and_epoch_and_nothing_else(kind: type[bytes]) -> None:
    log = new_log()
    append(log, batch_of(b"first"))
    batch = batch_of(b"a", b"b", codec=Codec.LZ4)

    append(log, kind(bytearray(batch)), epoch=7)

    stored = all_batches(log)[-1]
    assert stored.data == as_leader_has_it(batch, base_offset=1, epoch=7)


def test_an_append_is_one_write_and_no_sync() -> None:
    disk = SimulatedDisk()
    log = new_log(disk)
    append(log, batch_of(b"first"))
    disk.counters = DiskCounters()

    batch = batch_of(b"v" * 1_000)
    append(log, batch)
    append(log, bytes(batch))

    assert disk.counters == DiskCounters(writes=2, bytes_written=2 * len(batch))


# ---- idempotent producers


def numbered(sequence: int, *, count: int = 1, epoch: int = 0) -> bytearray:
    return batch_of(*[b"v"] * count, producer_id=7, producer_epoch=epoch, sequence=sequence)


def test_a_duplicate_is_answered_with_the_offsets_of_its_first_copy() -> None:
    disk = SimulatedDisk()
    log = new_log(disk)
    append(log, batch_of(b"another's"))
    results = [append(log, numbered(sequence, count=2)) for sequence in (0, 2, 4)]
    disk.counters = DiskCounters()

    again = [append(log, numbered(sequence, count=2)) for sequence in (0, 2, 4)]

    assert [result[:2] for result in again] == [result[:2] for result in results]
    assert all(result.is_duplicate for result in again)
    assert disk.counters == DiskCounters()
    assert log.log_end_offset == 7


def test_the_last_five_batches_are_known_as_duplicates_and_older_ones_are_refused() -> None:
    log = new_log()
    for sequence in range(6):
        append(log, numbered(sequence))

    assert [append(log, numbered(sequence)).first_offset for sequence in range(1, 6)] == [
        *range(1, 6)
    ]
    with pytest.raises(KafkaError) as error:
        append(log, numbered(0))
    assert code_of(error) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_gap_in_sequence_numbers_is_refused_and_leaves_no_trace() -> None:
    log = new_log()
    append(log, numbered(0))

    with pytest.raises(KafkaError) as error:
        append(log, numbered(2))

    assert code_of(error) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.log_end_offset == 1
    assert append(log, numbered(1)) == AppendResult(1, 1, -1, False)


def test_a_stale_producer_epoch_is_refused() -> None:
    log = new_log()
    append(log, numbered(0, epoch=3))

    with pytest.raises(KafkaError) as error:
        append(log, numbered(1, epoch=2))

    assert code_of(error) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_new_producer_epoch_starts_over_at_sequence_zero() -> None:
    log = new_log()
    append(log, numbered(0))

    with pytest.raises(KafkaError) as error:
        append(log, numbered(1, epoch=1))
    assert code_of(error) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert not append(log, numbered(0, epoch=1)).is_duplicate


def test_an_unknown_producer_is_taken_at_its_word() -> None:
    log = new_log()

    assert not append(log, numbered(42)).is_duplicate


# ---- configs


def test_log_append_time_replaces_the_producers_and_is_answered() -> None:
    log = new_log(message_timestamp_type=TimestampType.LOG_APPEND_TIME)

    result = append(log, batch_of(b"a", b"b", timestamp=17), now_ms=5_000)

    assert result.log_append_time_ms == 5_000
    (batch,) = all_batches(log)
    assert batch.header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert [record.timestamp for record in iterate_records(batch.data)] == [5_000, 5_000]
    assert log.segments.active.max_timestamp == (5_000, 1)


def test_a_duplicate_is_answered_with_the_first_copys_append_time() -> None:
    log = new_log(message_timestamp_type=TimestampType.LOG_APPEND_TIME)
    append(log, numbered(0), now_ms=5_000)

    assert append(log, numbered(0), now_ms=6_000) == AppendResult(0, 0, 5_000, True)


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("compression_type", Codec)
def test_a_topics_own_codec_replaces_the_producers(codec: Codec, compression_type: Codec) -> None:
    log = new_log(compression_type=compression_type)
    batch = batch_of(b"v" * 500, b"w" * 500, key=b"k", codec=codec, producer_id=7, sequence=0)

    append(log, bytes(batch))

    (stored,) = all_batches(log)
    assert stored.header.codec is compression_type
    assert stored.header.producer_id == 7
    assert list(iterate_records(stored.data)) == list(iterate_records(batch))
    assert_sound(log)


def test_without_a_codec_of_its_own_a_topic_keeps_the_producers() -> None:
    log = new_log()
    append(log, batch_of(b"v" * 100, codec=Codec.ZSTD))

    assert all_batches(log)[0].header.codec is Codec.ZSTD


def test_a_refused_batch_leaves_the_log_as_it_was() -> None:
    log = new_log(max_message_bytes=100)
    before = read_all(log)

    with pytest.raises(KafkaError) as error:
        append(log, batch_of(b"v" * 100))

    assert code_of(error) is ErrorCode.MESSAGE_TOO_LARGE
    assert read_all(log) == before
    assert log.log_end_offset == 0


def test_recompression_must_not_make_a_batch_too_large() -> None:
    log = new_log(max_message_bytes=300, compression_type=Codec.NONE)

    with pytest.raises(KafkaError) as error:
        append(log, batch_of(b"v" * 1_000, codec=Codec.ZSTD))

    assert code_of(error) is ErrorCode.MESSAGE_TOO_LARGE


# ---- followers


def test_a_follower_appends_what_it_fetched_in_one_write() -> None:
    disk = SimulatedDisk()
    log = new_log(disk)
    records = fetched(10, 20, 30, epoch=4)
    disk.counters = DiskCounters()

    assert log.append_as_follower(records, leader_epoch=9, now_ms=0) == 3

    assert disk.counters == DiskCounters(writes=1, bytes_written=len(records))
    assert read_all(log) == records
    assert list(log.epochs.entries) == [(4, 0)]
    assert_sound(log)


def test_a_batch_that_the_fetch_cut_off_is_left_out() -> None:
    log = new_log()

    assert log.append_as_follower(fetched(10, 20, 30)[:-1], leader_epoch=9, now_ms=0) == 2
    assert log.append_as_follower(b"", leader_epoch=9, now_ms=0) == 2
    assert log.append_as_follower(fetched(10, start=2)[:50], leader_epoch=9, now_ms=0) == 2


def test_a_follower_keeps_the_leaders_gaps() -> None:
    log = new_log()

    log.append_as_follower(fetched(10) + fetched(10, start=100), leader_epoch=9, now_ms=0)

    assert [batch.header.base_offset for batch in all_batches(log)] == [0, 100]
    assert log.log_end_offset == 101
    assert_sound(log, gaps=True)


@pytest.mark.parametrize("start", [0, 1])
def test_a_follower_refuses_offsets_that_it_has(start: int) -> None:
    log = new_log()
    log.append_as_follower(fetched(10, 10), leader_epoch=9, now_ms=0)

    with pytest.raises(KafkaError) as error:
        log.append_as_follower(fetched(10, start=start), leader_epoch=9, now_ms=0)

    assert code_of(error) is ErrorCode.CORRUPT_MESSAGE
    assert log.log_end_offset == 2


def test_a_follower_refuses_damaged_batches_and_appends_none() -> None:
    log = new_log()
    records = fetched(10, 20, 30)
    records[-1] ^= 1

    with pytest.raises(KafkaError) as error:
        log.append_as_follower(records, leader_epoch=9, now_ms=0)

    assert code_of(error) is ErrorCode.CORRUPT_MESSAGE
    assert log.log_end_offset == 0


def test_a_follower_learns_of_producers_and_transactions_without_checking_them() -> None:
    log = new_log()
    records = as_leader_has_it(
        batch_of(b"v", producer_id=7, sequence=5, is_transactional=True), base_offset=0
    ) + as_leader_has_it(marker(producer_id=7, commit=False), base_offset=1)

    log.append_as_follower(records, leader_epoch=9, now_ms=0)

    assert log.producers.state.entries[7].last_sequence == 5
    assert log.aborted_transactions(fetch_offset=0, upper_bound_offset=2) == [(7, 0, 1, 2)]


def test_markers_are_the_coordinators_to_write() -> None:
    log = new_log()
    batch = marker(producer_id=7, commit=True)

    with pytest.raises(KafkaError) as error:
        append(log, batch)

    assert code_of(error) is ErrorCode.INVALID_RECORD
    result = log.append_as_leader(batch, leader_epoch=0, now_ms=0, origin=Origin.COORDINATOR)
    assert result.first_offset == 0


# ---- leader epochs


def test_each_epoch_begins_with_its_first_batch() -> None:
    log = new_log()
    for epoch in (3, 3, 5, 5, 5, 8):
        append(log, batch_of(b"a", b"b"), epoch=epoch)

    assert list(log.epochs.entries) == [(3, 0), (5, 4), (8, 10)]
    assert [batch.header.leader_epoch for batch in all_batches(log)] == [3, 3, 5, 5, 5, 8]


def test_batches_without_an_epoch_begin_none() -> None:
    log = new_log()
    append(log, batch_of(b"a"), epoch=-1)

    assert not log.epochs.entries
