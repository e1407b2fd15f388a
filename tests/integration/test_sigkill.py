"""A real process on a real disk, killed in the middle of whatever it does, again and again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ottla.model import KafkaError
from ottla.runtime.system_disk import SystemDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.log.log import Log
from ottla.wire.records.record import iterate_records
from tests.support.kafka.kafka_acceptance import assert_kafka_accepts
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import (
    all_batches,
    assert_only_files_of_segments,
    assert_producers_are,
    assert_sound,
    directory_content,
    replayed,
)
from tests.support.storage.log_writer import CONFIG, value_at
from tests.support.storage.logs import append, opened

ROUNDS = 15
EVENTS_MAX = 200
ROOT = Path(__file__).resolve().parents[2]


def run_until_killed(data: Path, dice: SeededDice) -> dict[str, int]:
    """Lets the writer run for some events, kills it, and returns the last offset of each event."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.storage.log_writer", str(data), str(dice.seed)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    reported = {}
    with process.stdout:
        for _ in range(dice.between(low=1, high=EVENTS_MAX)):
            event, offset = process.stdout.readline().split()
            reported[event] = int(offset)
        process.kill()
        # It may have printed more before the signal arrived; a line that it was writing is cut off.
        for line in process.stdout:
            if line.endswith("\n"):
                event, offset = line.split()
                reported[event] = int(offset)
    process.wait()
    return reported


def assert_holds_what_was_written(log: Log, *, end_min: int) -> None:
    assert log.log_end_offset >= end_min
    assert_sound(log)
    batches = [batch.data for batch in all_batches(log)]
    assert_producers_are(log, replayed(batches))
    for batch in batches:
        for record in iterate_records(batch):
            assert record.value == value_at(record.offset)


def assert_knows_its_producers(log: Log) -> None:
    for producer_id, entry in log.producers.state.entries.items():
        last = next(
            batch.data
            for batch in reversed(all_batches(log))
            if batch.header.producer_id == producer_id
        )
        assert append(log, last).is_duplicate
        gap = batch_of(b"gap", producer_id=producer_id, sequence=entry.last_sequence + 2)
        with pytest.raises(KafkaError):
            append(log, gap)


@pytest.mark.judged
def test_a_log_outlives_sigkill_at_any_moment(tmp_path: Path) -> None:
    disk, data = SystemDisk(), str(tmp_path)
    end = 0
    for number in range(ROUNDS):
        reported = run_until_killed(tmp_path, SeededDice(f"{number}"))

        assert reported["opened"] == end, "the writer found another log than the one that was left"
        log = opened(disk, CONFIG, data=data)
        assert_holds_what_was_written(log, end_min=max(reported.values()))
        assert_knows_its_producers(log)
        assert_only_files_of_segments(disk, log)
        content = directory_content(disk, log.directory)
        end = log.log_end_offset
        log.abandon()

        again = opened(disk, CONFIG, data=data)
        assert directory_content(disk, again.directory) == content
        again.abandon()
    assert end > ROUNDS
    log = opened(disk, CONFIG, data=data)
    log.close()
    assert_kafka_accepts(disk, log.directory)
