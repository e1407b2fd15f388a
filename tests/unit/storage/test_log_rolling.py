"""When a log begins a new segment, and where."""

from __future__ import annotations

from ottla.storage.log.log import Log
from ottla.wire.records.header import read_header
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import all_batches, assert_sound
from tests.support.storage.logs import append, base_offsets, fetched, new_log, read_all


def roll_points(log: Log, *batches: bytearray, now_ms: int = 10_000) -> list[int]:
    for batch in batches:
        append(log, batch, now_ms=now_ms)
    assert_sound(log)
    return base_offsets(log)


def test_a_segment_is_rolled_before_it_grows_past_segment_bytes() -> None:
    size = len(batch_of(b"v" * 100))
    log = new_log(segment_bytes=3 * size)

    assert roll_points(log, *[batch_of(b"v" * 100)] * 7) == [0, 3, 6]
    assert [segment.size for segment in log.segments] == [3 * size, 3 * size, size]


def test_a_batch_larger_than_a_segment_gets_one_of_its_own() -> None:
    log = new_log(segment_bytes=100)

    assert roll_points(log, *[batch_of(b"v" * 500)] * 3) == [0, 1, 2]


def test_a_segment_is_rolled_after_segment_ms_by_the_records_own_time() -> None:
    log = new_log(segment_ms=1_000)
    times = [50_000, 51_000, 51_001, 52_001, 52_002]

    assert roll_points(log, *[batch_of(b"v", timestamp=time) for time in times]) == [0, 2, 4]


def test_jitter_rolls_earlier() -> None:
    log = new_log(segment_ms=1_000, segment_jitter_ms=400)

    assert roll_points(log, batch_of(b"v", timestamp=0), batch_of(b"v", timestamp=601)) == [0, 1]


def test_records_without_timestamps_are_rolled_by_the_clock() -> None:
    log = new_log(segment_ms=1_000)

    assert roll_points(log, *[batch_of(b"v", timestamp=-1)] * 2, now_ms=11_000) == [0]
    assert roll_points(log, batch_of(b"v", timestamp=-1), now_ms=11_001) == [0, 2]


def test_a_segment_is_rolled_when_an_index_is_full() -> None:
    log = new_log(segment_index_bytes=3 * 12, index_interval_bytes=0)
    batches = [batch_of(b"v", timestamp=time) for time in range(8)]

    # A segment's first batch makes no entry, and the last place of a time index is for the roll.
    assert roll_points(log, *batches) == [0, 3, 6]
    assert log.segments.first.time_index.entry_count == 2


def test_a_segment_is_rolled_when_an_offset_does_not_fit_its_index() -> None:
    log = new_log()
    log.append_as_follower(fetched(10), leader_epoch=9, now_ms=0)
    log.append_as_follower(fetched(10, start=2**31 - 1), leader_epoch=9, now_ms=0)
    assert base_offsets(log) == [0]

    log.append_as_follower(fetched(10, start=2**31), leader_epoch=9, now_ms=0)
    assert base_offsets(log) == [0, 2**31]


def test_a_gap_that_no_segment_spans_leaves_no_empty_segment_behind() -> None:
    log = new_log()

    log.append_as_follower(fetched(10, start=2**40), leader_epoch=9, now_ms=0)

    assert base_offsets(log) == [2**40]
    assert log.log_start_offset == 0
    assert read_all(log) == fetched(10, start=2**40)


def test_segments_follow_each_other_even_where_batches_do_not() -> None:
    log = new_log(segment_bytes=100)
    log.append_as_follower(fetched(50), leader_epoch=9, now_ms=0)
    log.append_as_follower(fetched(50, start=1_000), leader_epoch=9, now_ms=0)

    assert base_offsets(log) == [0, 1]
    assert_sound(log, gaps=True)


def test_rolling_an_empty_segment_does_nothing() -> None:
    log = new_log()
    append(log, batch_of(b"v"))
    log.roll(now_ms=0)

    assert log.roll(now_ms=0) is log.segments.active
    assert base_offsets(log) == [0, 1]


def test_headers_have_the_offset_of_each_batch_after_a_roll() -> None:
    log = new_log(segment_bytes=200, index_interval_bytes=0)
    for number in range(20):
        append(log, batch_of(*[b"%d" % number] * 3))

    assert [read_header(batch.data).base_offset for batch in all_batches(log)] == [*range(0, 60, 3)]
    assert_sound(log)
