"""Our compaction against Kafka's own cleaner: the same log, the same times, the same batches left.

One group of segments, because of each our compaction keeps the last batch, where Kafka's keeps that
of all of them. A marker that is kept for what it says of its producer is whole here, where Kafka
leaves an empty batch of it. See batch_filter.py for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.model import NO_TIMESTAMP
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.compaction import compact, plan_compaction, swap_in
from ottla.storage.log_config import LogConfig
from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.builder import empty_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import TimestampType
from ottla.wire.records.record import iterate_records
from tests.conformance.kafka.process import JudgeProcess, reason_unavailable
from tests.support.storage.compaction_history import (
    IDEMPOTENT,
    TRANSACTIONAL,
    CompactionHistory,
    End,
    Operation,
    Put,
    Roll,
)
from tests.support.storage.compactions import commit_all
from tests.support.storage.log_checks import all_batches, directory_content
from tests.support.storage.logs import DIRECTORY

pytestmark = pytest.mark.java

HISTORIES = 20
ROUNDS = 4
DELETE_RETENTION_MS = 1_000
KAFKA_CONFIG = {
    "cleanup.policy": "compact",
    "delete.retention.ms": str(DELETE_RETENTION_MS),
    "index.interval.bytes": "0",
    # Kafka fills a new index with zeros, and a small one is quicker.
    "segment.index.bytes": "4096",
}


def operations(dice: SeededDice) -> list[Operation]:
    found: list[Operation] = []
    for _ in range(dice.between(low=2, high=6)):
        for _ in range(dice.between(low=1, high=10)):
            found.append(put(dice) if dice.chance(0.66) else end(dice))
        found.append(Roll())
    return found


def put(dice: SeededDice) -> Put:
    producer = dice.choice((0, *IDEMPOTENT, *TRANSACTIONAL, *TRANSACTIONAL))
    records = tuple(
        (dice.below(6), dice.below(60) if dice.chance(0.6) else None)
        for _ in range(dice.between(low=1, high=4))
    )
    return Put(producer, records, dice.choice((Codec.NONE, *Codec)))


def end(dice: SeededDice) -> End:
    return End(dice.choice(TRANSACTIONAL), dice.chance(0.5), dice.chance(0.5))


def history(dice: SeededDice) -> CompactionHistory:
    config = LogConfig(
        compact=True,
        delete=False,
        index_interval_bytes=0,
        delete_retention_ms=DELETE_RETENTION_MS,
        message_timestamp_type=dice.choice(tuple(TimestampType)),
    )
    made = CompactionHistory(config)
    made.run(operations(dice))
    made.log.flush()
    commit_all(made.log)
    return made


def times(dice: SeededDice, start_ms: int) -> list[int]:
    found = [start_ms]
    while len(found) < ROUNDS:
        found.append(found[-1] + dice.choice((0, 1, DELETE_RETENTION_MS)))
    return found


def export(made: CompactionHistory, directory: Path) -> None:
    directory.mkdir(parents=True)
    for name, content in directory_content(made.disk, DIRECTORY).items():
        (directory / name).write_bytes(content)


def cleaned_by_ottla(made: CompactionHistory, now_ms: int) -> tuple[int, bytes]:
    plan = plan_compaction(made.log, first_dirty_offset=0, now_ms=now_ms)
    end_offset = 0
    if plan is not None:
        result = compact(made.disk, plan)
        assert swap_in(made.log, result, now_ms=now_ms)
        end_offset = result.first_dirty_offset
    return end_offset, b"".join(batch.data for batch in all_batches(made.log))


def content(log: bytes) -> list[tuple[object, ...]]:
    """All that a batch says. The base of its timestamps is a matter of encoding."""
    return [
        (
            header._replace(batch_length=0, crc=0, base_timestamp=NO_TIMESTAMP),
            header.delete_horizon_ms,
            list(iterate_records(log, position)),
        )
        for position, header in iterate_batches(log, strict=True)
    ]


def with_markers_emptied(log: bytes, kafkas: bytes) -> bytes:
    """The same as Kafka would have it: without what its markers say of which Kafka has emptied."""
    emptied = {
        header.base_offset
        for _, header in iterate_batches(kafkas)
        if header.is_control and not header.record_count
    }
    batches = []
    for position, header in iterate_batches(log):
        is_emptied = header.is_control and header.base_offset in emptied
        whole = log[position : position + header.size_in_bytes]
        batches.append(bytes(empty_batch(header)) if is_emptied else whole)
    return b"".join(batches)


@pytest.fixture
def kafka() -> Iterator[JudgeProcess]:
    reason = reason_unavailable()
    if reason is not None:
        pytest.skip(reason)
    process = JudgeProcess(main="Cleaning")
    yield process
    process.close()


def test_kafkas_cleaner_leaves_the_same_batches(kafka: JudgeProcess, tmp_path: Path) -> None:
    markers_emptied = 0
    for seed in range(HISTORIES):
        dice = SeededDice(seed)
        made = history(dice)
        times_ms = times(dice, made.now_ms)
        directory = tmp_path / str(seed) / "t-0"
        export(made, directory)
        rounds = kafka.send_command(
            "clean", directory=str(directory), config=KAFKA_CONFIG, times_ms=times_ms
        )
        for now_ms, cleaned in zip(times_ms, rounds, strict=True):
            end_offset, log = cleaned_by_ottla(made, now_ms)
            assert end_offset == cleaned["end_offset"], f"seed {seed}"
            kafkas = bytes.fromhex(cleaned["log"])
            emptied = with_markers_emptied(log, kafkas)
            markers_emptied += emptied != log
            assert content(emptied) == content(kafkas), f"seed {seed}"
    assert markers_emptied
