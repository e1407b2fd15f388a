"""Whatever happens to a log, compaction changes nothing that its readers can notice."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.storage.log_config import LogConfig
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import TimestampType
from tests.conformance.kafka.judge import Judge
from tests.support.storage.compaction_history import (
    IDEMPOTENT,
    TRANSACTIONAL,
    Compact,
    CompactionHistory,
    End,
    Flush,
    Operation,
    Put,
    Reopen,
    Roll,
    Truncate,
)
from tests.support.storage.log_checks import directory_content
from tests.support.storage.logs import DIRECTORY, base_offsets

pytestmark = pytest.mark.judged

DELETE_RETENTION_MS = 1_000

CONFIGS = st.builds(
    LogConfig,
    compact=st.just(True),
    delete=st.just(False),
    segment_bytes=st.sampled_from([400, 1_000, 4_000]),
    index_interval_bytes=st.sampled_from([0, 300]),
    delete_retention_ms=st.just(DELETE_RETENTION_MS),
    min_cleanable_dirty_ratio=st.just(0.0),
    file_delete_delay_ms=st.sampled_from([0, 60_000]),
    message_timestamp_type=st.sampled_from(TimestampType),
)
RECORDS = st.lists(
    st.tuples(st.integers(0, 5), st.none() | st.integers(0, 60)), min_size=1, max_size=4
)
PUTS = st.builds(
    Put,
    st.sampled_from([0, *IDEMPOTENT, *TRANSACTIONAL, *TRANSACTIONAL]),
    RECORDS.map(tuple),
    st.sampled_from([Codec.NONE, Codec.NONE, *Codec]),
)
ENDS = st.builds(End, st.sampled_from(TRANSACTIONAL), st.booleans(), st.booleans())
LATER = st.sampled_from([0, 1, DELETE_RETENTION_MS])
KEYS_MAX = st.sampled_from([100, 100, 3, 1])
COMPACTIONS = st.builds(Compact, LATER, KEYS_MAX, st.none(), st.just(0))
CRASHES = st.builds(Compact, LATER, KEYS_MAX, st.integers(0, 80), st.integers(0, 2**32))
REOPENINGS = st.builds(Reopen, st.booleans(), st.booleans())
OTHERS = st.one_of(
    st.just(Roll()), st.builds(Flush, st.booleans()), st.builds(Truncate, st.floats(0, 1))
)
APPENDS = st.one_of(PUTS, PUTS, ENDS)


def histories(*rarely: st.SearchStrategy[Operation]) -> st.SearchStrategy[list[Operation]]:
    """Runs of appends with something else after each, so that there is something to compact."""
    runs = st.tuples(st.lists(APPENDS, min_size=2, max_size=10), st.one_of(*rarely))
    return st.lists(runs.map(lambda run: [*run[0], run[1]]), min_size=2, max_size=8).map(
        lambda found: [operation for run in found for operation in run]
    )


@settings(deadline=None, max_examples=80)
@given(CONFIGS, histories(COMPACTIONS, COMPACTIONS, REOPENINGS, OTHERS))
def test_compacted_log_says_what_all_of_its_records_said(
    config: LogConfig, operations: list[Operation]
) -> None:
    history = CompactionHistory(config)
    history.run([*operations, Compact(0, 100), Reopen(True, True)])
    history.close()


@settings(deadline=None, max_examples=100)
@given(CONFIGS, histories(COMPACTIONS, CRASHES, CRASHES, OTHERS))
def test_crash_in_a_compaction_changes_nothing_that_a_reader_sees(
    config: LogConfig, operations: list[Operation]
) -> None:
    history = CompactionHistory(config)
    history.run([*operations, Compact(0, 100), Reopen(False, True)])
    history.close()


@pytest.mark.java
@settings(deadline=None, max_examples=15)
@given(CONFIGS, histories(COMPACTIONS, COMPACTIONS, CRASHES))
def test_kafka_accepts_a_compacted_directory_and_finds_the_same_in_it(
    judge: Judge, config: LogConfig, operations: list[Operation]
) -> None:
    history = CompactionHistory(config)
    history.run([*operations, Compact(0, 100)])
    history.log.close()
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "t-0"
        directory.mkdir()
        for name, content in directory_content(history.disk, DIRECTORY).items():
            (directory / name).write_bytes(content)
        judge.assert_accepts(directory, compacted=True)
        found = judge.open_log(directory, last_shutdown_clean=True)
    log, producers = history.log, history.log.producers.state.entries
    assert found.log_end_offset == log.log_end_offset
    assert found.last_stable_offset == log.last_stable_offset
    assert [segment.base_offset for segment in found.segments] == base_offsets(log)
    assert {producer.producer_id: producer.producer_epoch for producer in found.producers} == {
        producer_id: entry.producer_epoch for producer_id, entry in producers.items()
    }
    assert {
        producer.producer_id: producer.batches[-1].last_sequence
        for producer in found.producers
        if producer.batches
    } == {
        producer_id: entry.last_sequence
        for producer_id, entry in producers.items()
        if entry.batches
    }
