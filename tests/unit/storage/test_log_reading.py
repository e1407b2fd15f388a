from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.log.log import Log
from ottla.wire.records.batch import iterate_batches
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import all_batches
from tests.support.storage.logs import append, base_offsets, end_transaction, new_log, read_all


@pytest.fixture
def log() -> Log:
    """Ten batches of three records, four batches to a segment."""
    size = len(batch_of(b"v" * 50, b"v" * 50, b"v" * 50))
    log = new_log(segment_bytes=4 * size, index_interval_bytes=size)
    for number in range(10):
        append(log, batch_of(*[bytes([number]) * 50] * 3))
    assert base_offsets(log) == [0, 12, 24]
    return log


def read(
    log: Log,
    offset: int,
    *,
    bytes_max: int = 1 << 20,
    upper: int | None = None,
    min_one_batch: bool = True,
) -> bytes | None:
    upper = log.log_end_offset if upper is None else upper
    found = log.read(offset, bytes_max=bytes_max, upper_offset=upper, min_one_batch=min_one_batch)
    return None if found is None else found.read()


def bases(data: bytes | None) -> list[int]:
    assert data is not None
    return [header.base_offset for _, header in iterate_batches(data)]


@pytest.mark.parametrize("offset", range(30))
def test_reading_begins_with_the_batch_that_holds_the_offset(log: Log, offset: int) -> None:
    assert bases(read(log, offset))[0] == offset // 3 * 3


def test_a_read_ends_with_its_segment(log: Log) -> None:
    assert bases(read(log, 4)) == [3, 6, 9]
    assert bases(read(log, 12)) == [12, 15, 18, 21]
    assert bases(read(log, 24)) == [24, 27]


def test_reading_on_and_on_gives_everything(log: Log) -> None:
    everything = b"".join(batch.data for batch in all_batches(log))

    for bytes_max in (1, 300, 700, 10_000):
        assert read_all(log, bytes_max=bytes_max) == everything


def test_a_read_is_bounded_by_bytes_and_may_cut_its_last_batch_off(log: Log) -> None:
    size = len(all_batches(log)[0].data)

    data = read(log, 0, bytes_max=2 * size + 10)

    assert data is not None
    assert len(data) == 2 * size + 10
    assert bases(data) == [0, 3]


def test_one_whole_batch_comes_however_few_bytes_are_requested(log: Log) -> None:
    assert bases(read(log, 5, bytes_max=1)) == [3]


def test_without_that_promise_a_read_keeps_to_its_bytes(log: Log) -> None:
    data = read(log, 5, bytes_max=10, min_one_batch=False)

    assert data == all_batches(log)[1].data[:10]


@pytest.mark.parametrize(
    ("offset", "upper", "expected"),
    [
        (0, 3, [0]),
        (0, 6, [0, 3]),
        (0, 12, [0, 3, 6, 9]),
        (0, 13, [0, 3, 6, 9]),
        # A batch that reaches past the upper offset is not given in part.
        (0, 5, [0]),
        (12, 20, [12, 15]),
        (24, 30, [24, 27]),
    ],
)
def test_only_batches_below_the_upper_offset_are_read(
    log: Log, offset: int, upper: int, expected: list[int]
) -> None:
    assert bases(read(log, offset, upper=upper)) == expected


@pytest.mark.parametrize(("offset", "upper"), [(0, 0), (0, 2), (6, 6), (12, 12), (12, 6), (30, 30)])
def test_there_is_nothing_to_read_at_the_upper_offset(log: Log, offset: int, upper: int) -> None:
    assert read(log, offset, upper=upper) is None


def test_an_empty_log_has_nothing_to_read() -> None:
    assert read(new_log(), 0) is None


@pytest.mark.parametrize("offset", [-1, 6, 31])
def test_an_offset_outside_the_log_is_refused(log: Log, offset: int) -> None:
    log.advance_high_watermark(30)
    log.delete_records_before(7)

    with pytest.raises(KafkaError) as error:
        read(log, offset)

    assert error.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert "7 to 30" in str(error.value)


def test_reading_goes_on_in_the_next_segment_after_a_gap() -> None:
    log = new_log(segment_bytes=100)
    first = batch_of(b"v" * 50)
    append(log, first)
    second = bytearray(first)
    second[:8] = (1_000).to_bytes(8)
    log.append_as_follower(second, leader_epoch=9, now_ms=0)

    assert bases(read(log, 500)) == [1_000]
    assert read(log, 500, upper=600) is None


def test_a_cached_slice_needs_no_read_of_the_device(log: Log) -> None:
    found = log.read(0, bytes_max=100, upper_offset=30, min_one_batch=False)

    assert found is not None
    assert found.read_cached() == found.read()


def test_locating_a_read_takes_two_small_reads_of_the_device() -> None:
    disk = SimulatedDisk()
    log = new_log(disk, index_interval_bytes=500)
    for _ in range(200):
        append(log, batch_of(b"v" * 100))
    log.flush()
    disk.counters = DiskCounters()

    log.read(120, bytes_max=1 << 20, upper_offset=200)

    assert disk.counters.reads <= 3
    assert disk.counters.bytes_read <= 40_000


# ---- transactions


def transactional(log: Log, producer_id: int, *, sequence: int = 0, count: int = 1) -> None:
    values = [b"v"] * count
    append(
        log,
        batch_of(*values, producer_id=producer_id, sequence=sequence, is_transactional=True),
    )


def test_without_transactions_everything_committed_is_stable() -> None:
    log = new_log()
    append(log, batch_of(b"a", b"b"))
    assert log.last_stable_offset == 0

    log.advance_high_watermark(2)

    assert log.last_stable_offset == 2


def test_an_open_transaction_holds_the_last_stable_offset_back() -> None:
    log = new_log()
    append(log, batch_of(b"a"))
    transactional(log, 7)
    append(log, batch_of(b"b"))
    log.advance_high_watermark(3)

    assert log.last_stable_offset == 1
    assert log.high_watermark == 3


@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_is_stable_once_its_marker_is_committed(commit: bool) -> None:
    log = new_log()
    transactional(log, 7, count=2)
    end_transaction(log, producer_id=7, commit=commit)
    log.advance_high_watermark(2)
    assert log.last_stable_offset == 0

    log.advance_high_watermark(3)

    assert log.last_stable_offset == 3


def test_the_first_of_several_open_transactions_counts() -> None:
    log = new_log()
    for producer_id in (7, 8, 9):
        transactional(log, producer_id)
    end_transaction(log, producer_id=8, commit=True)
    log.advance_high_watermark(4)
    assert log.last_stable_offset == 0

    end_transaction(log, producer_id=7, commit=True)
    log.advance_high_watermark(5)

    assert log.last_stable_offset == 2


def test_deleting_records_does_not_leave_the_last_stable_offset_below_the_logs_start() -> None:
    log = new_log()
    transactional(log, 7)
    append(log, batch_of(b"a", b"b"))
    log.advance_high_watermark(3)

    log.delete_records_before(2)

    assert log.last_stable_offset == 2


def test_aborted_transactions_are_found_in_every_segment_that_a_reader_passes() -> None:
    log = new_log()
    transactional(log, 7)  # 0
    transactional(log, 8)  # 1
    end_transaction(log, producer_id=8, commit=False)  # 2
    log.roll(now_ms=0)
    transactional(log, 7, sequence=1)  # 3
    end_transaction(log, producer_id=7, commit=False)  # 4
    transactional(log, 9)  # 5
    end_transaction(log, producer_id=9, commit=True)  # 6
    first, second = (8, 1, 2, 0), (7, 0, 4, 5)

    def aborted(start: int, upper: int) -> list[tuple[int, ...]]:
        return [*log.aborted_transactions(fetch_offset=start, upper_bound_offset=upper)]

    assert aborted(0, 7) == [first, second]
    assert aborted(2, 7) == [first, second]
    assert aborted(3, 7) == [second]
    assert aborted(4, 5) == [second]
    assert aborted(5, 7) == []
    assert aborted(0, 1) == [second]


def test_of_a_long_log_only_aborted_transactions_around_the_read_are_returned() -> None:
    log = new_log(index_interval_bytes=200, segment_bytes=4_000)
    for number in range(100):
        transactional(log, number)
        end_transaction(log, producer_id=number, commit=False)
    log.advance_high_watermark(200)
    assert len(log.segments) > 3

    for offset in range(0, 200, 7):
        records = log.read(offset, bytes_max=500, upper_offset=200)
        assert records is not None
        headers = [header for _, header in iterate_batches(records.read())]
        listed = log.aborted_transactions(
            fetch_offset=offset, upper_bound_offset=200, records=records
        )
        needed = {header.producer_id for header in headers if header.last_offset >= offset}
        assert needed <= {each.producer_id for each in listed}
        assert len(listed) <= len(needed) + 4


def test_a_batch_outside_the_open_transaction_is_refused() -> None:
    log = new_log()
    transactional(log, 7)

    with pytest.raises(KafkaError) as error:
        append(log, batch_of(b"v", producer_id=7, sequence=1))

    assert error.value.code is ErrorCode.INVALID_TXN_STATE


def test_a_marker_of_a_deposed_coordinator_is_refused() -> None:
    log = new_log()
    transactional(log, 7)
    end_transaction(log, producer_id=7, commit=True, coordinator_epoch=3)

    with pytest.raises(KafkaError) as error:
        end_transaction(log, producer_id=7, commit=False, coordinator_epoch=2)

    assert error.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED


# ---- the high watermark


def test_the_high_watermark_moves_up_only_and_not_past_the_end() -> None:
    log = new_log()
    append(log, batch_of(b"a", b"b", b"c"))

    log.advance_high_watermark(2)
    log.advance_high_watermark(1)
    assert log.high_watermark == 2

    log.advance_high_watermark(100)
    assert log.high_watermark == 3
