"""When a log is compacted, and how far."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ottla.storage.compaction import plan_compaction
from ottla.storage.compaction.plan import LastBatch, PlannedSegment
from ottla.storage.compaction.segment_groups import SizedSegment, group_segments
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of
from tests.support.storage.compactions import commit_all, roll_and_commit
from tests.support.storage.logs import NOW_MS, append, end_transaction, new_log


def segmented_log(*timestamps: int, **config: Any) -> Log:
    """A log with an inactive segment of one record for each timestamp, all of the same size."""
    log = new_log(compact=True, **config)
    for timestamp in timestamps:
        append(log, batch_of(b"value", key=b"key", timestamp=timestamp))
        log.roll(now_ms=NOW_MS)
    commit_all(log)
    return log


def end_offset(log: Log, *, first_dirty_offset: int = 0, now_ms: int = NOW_MS) -> int | None:
    """How far the log would be compacted, if it would."""
    plan = plan_compaction(log, first_dirty_offset=first_dirty_offset, now_ms=now_ms)
    return None if plan is None else plan.end_offset


def test_log_without_the_policy_is_left_alone() -> None:
    log = segmented_log(1_000, 2_000)
    log.config = dataclasses.replace(log.config, compact=False)
    assert end_offset(log) is None


def test_log_with_nothing_but_an_active_segment_is_left_alone() -> None:
    log = new_log(compact=True)
    append(log, batch_of(b"value", key=b"key"))
    commit_all(log)
    assert end_offset(log) is None


@pytest.mark.parametrize(
    ("first_dirty_offset", "ratio", "is_due"),
    [
        (0, 0.99, True),
        (0, 1.0, False),
        (1, 0.74, True),
        # As much as the ratio is not more than it.
        (1, 0.75, False),
        (2, 0.49, True),
        (2, 0.5, False),
        (4, 0.0, False),
    ],
)
def test_dirty_bytes_have_to_be_more_than_their_ratio(
    first_dirty_offset: int, ratio: float, is_due: bool
) -> None:
    log = segmented_log(1_000, 2_000, 3_000, 4_000, min_cleanable_dirty_ratio=ratio)
    found = end_offset(log, first_dirty_offset=first_dirty_offset)
    assert found == (4 if is_due else None)


def test_segment_that_is_partly_clean_counts_as_both() -> None:
    log = new_log(compact=True, min_cleanable_dirty_ratio=0.4)
    append(log, batch_of(b"1", b"2", key=b"key"))
    roll_and_commit(log)
    assert end_offset(log, first_dirty_offset=1) == 2
    log.config = dataclasses.replace(log.config, min_cleanable_dirty_ratio=0.5)
    assert end_offset(log, first_dirty_offset=1) is None


def test_what_is_not_committed_is_left_alone() -> None:
    log = new_log(compact=True)
    for _ in range(4):
        append(log, batch_of(b"value", key=b"key"))
        log.roll(now_ms=NOW_MS)
    assert end_offset(log) is None
    log.advance_high_watermark(2)
    assert end_offset(log) == 2


def test_segment_that_holds_the_last_stable_offset_is_left_alone() -> None:
    log = new_log(compact=True)
    append(log, batch_of(b"value", key=b"key"))
    log.roll(now_ms=NOW_MS)
    append(log, batch_of(b"value", key=b"key"))
    transactional = batch_of(b"value", key=b"key", producer_id=7, sequence=0, is_transactional=True)
    append(log, transactional)
    roll_and_commit(log)
    assert end_offset(log) == 1
    end_transaction(log, producer_id=7, commit=True)
    assert end_offset(log) == 1, "the marker is not committed"
    commit_all(log)
    assert end_offset(log) == 3


def test_young_segments_are_left_alone_and_so_is_what_follows_them() -> None:
    log = segmented_log(1_000, 9_000, 2_000, min_compaction_lag_ms=5_000)
    assert end_offset(log) == 1
    assert end_offset(log, now_ms=14_000) == 3
    assert end_offset(log, first_dirty_offset=1) is None


def test_dirty_segment_is_compacted_after_its_lag_whatever_the_ratio() -> None:
    log = segmented_log(8_000, 9_000, min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=5_000)
    assert end_offset(log, now_ms=13_000) is None
    assert end_offset(log, now_ms=13_001) == 2
    assert end_offset(log, now_ms=13_001, first_dirty_offset=1) is None


def test_plan_says_by_what_each_producer_is_known() -> None:
    log = new_log(compact=True)
    append(log, batch_of(b"1", b"2", key=b"key", producer_id=7, sequence=0))
    transactional = batch_of(b"3", key=b"key", producer_id=8, sequence=0, is_transactional=True)
    append(log, transactional)
    end_transaction(log, producer_id=8, producer_epoch=1, commit=False)
    roll_and_commit(log)
    plan = plan_compaction(log, first_dirty_offset=0, now_ms=NOW_MS)
    assert plan is not None
    assert plan.last_batches == {7: LastBatch(1, 0), 8: LastBatch(None, 1)}
    assert [each.producer_id for each in plan.aborted_transactions] == [8]


def sized(*sizes: int, offsets_each: int = 10, index_size: int = 0) -> list[SizedSegment]:
    return [
        SizedSegment(
            PlannedSegment(
                number * offsets_each, (number + 1) * offsets_each, size, created_ms=NOW_MS
            ),
            index_size=index_size,
            time_index_size=0,
        )
        for number, size in enumerate(sizes)
    ]


def group_sizes(segments: list[SizedSegment], config: LogConfig) -> list[list[int]]:
    return [[each.size for each in group] for group in group_segments(segments, config)]


def test_segments_are_grouped_up_to_the_size_of_one() -> None:
    config = LogConfig(segment_bytes=100)
    assert group_sizes(sized(60, 40, 1, 120, 30, 30, 40, 10), config) == [
        [60, 40],
        [1],
        [120],
        [30, 30, 40],
        [10],
    ]


def test_segments_are_grouped_up_to_the_size_of_an_index() -> None:
    config = LogConfig(segment_index_bytes=16)
    assert group_sizes(sized(1, 1, 1, index_size=8), config) == [[1, 1], [1]]


def test_segments_are_grouped_as_far_as_offsets_reach() -> None:
    far = sized(1, 1, 1, offsets_each=2**30)
    assert group_sizes(far, LogConfig()) == [[1, 1], [1]]
    assert group_sizes(sized(1, 1, 0, offsets_each=2**30), LogConfig()) == [[1, 1, 0]]
