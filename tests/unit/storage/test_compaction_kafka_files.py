"""Directories that Kafka wrote, some of them compacted by Kafka, compacted here."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.model import TopicPartition
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.compaction import compact, plan_compaction, swap_in
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log_config import LogConfig
from tests.conformance.kafka.judge import Judge
from tests.support.kafka.kafka_fixtures import extract, partition_names
from tests.support.storage.compactions import commit_all, latest_values
from tests.support.storage.log_checks import replayed, stored_batches

NAMES = [name for name in partition_names("clean") if "cluster_metadata" not in name]
CONFIG = LogConfig(compact=True, delete=False, min_cleanable_dirty_ratio=0.0)
NOW_MS = 10**13


class NoCheckpoints:
    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        raise AssertionError("nothing is truncated")


def opened(directory: Path) -> Log:
    log = open_log(
        SystemDisk(),
        str(directory),
        TopicPartition.from_directory_name(directory.name),
        CONFIG,
        recovery_points=NoCheckpoints(),
        # No producer expires.
        now_ms=0,
        had_clean_shutdown=True,
    )
    commit_all(log)
    return log


def compacted(directory: Path, *, now_ms: int) -> Log:
    log = opened(directory)
    plan = plan_compaction(log, first_dirty_offset=log.log_start_offset, now_ms=now_ms)
    if plan is not None:
        assert swap_in(log, compact(log.disk, plan), now_ms=now_ms)
    log.close()
    return opened(directory)


@pytest.mark.parametrize("name", NAMES)
def test_compaction_of_kafkas_log_keeps_values_and_producers(tmp_path: Path, name: str) -> None:
    directory = extract(name, tmp_path)
    log = opened(directory)
    values, end = latest_values(log), log.log_end_offset
    known = {
        producer_id: (entry.producer_epoch, entry.last_sequence)
        for producer_id, entry in log.producers.state.entries.items()
    }
    log.close()
    # Twice, so that all delete horizons are set, and pass.
    compacted(directory, now_ms=NOW_MS).close()
    log = compacted(directory, now_ms=NOW_MS + CONFIG.delete_retention_ms)
    assert latest_values(log) == values
    assert log.log_end_offset == end
    batches = [batch.data for segment in log.segments for batch in stored_batches(segment)]
    found = replayed(batches).state.entries
    for producer_id, facts in known.items():
        entry = found[producer_id]
        assert (entry.producer_epoch, entry.last_sequence) == facts
    log.close()


@pytest.mark.java
@pytest.mark.parametrize("name", [name for name in NAMES if "compacted" in name])
def test_kafka_accepts_what_is_made_of_its_log(judge: Judge, tmp_path: Path, name: str) -> None:
    directory = extract(name, tmp_path)
    compacted(directory, now_ms=NOW_MS).close()
    judge.assert_accepts(directory, compacted=True)
