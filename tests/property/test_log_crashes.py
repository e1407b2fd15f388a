"""Whatever a log was doing when the power went: what is found is a log, and nothing safe is lost.

log_history.py says what is played and what must hold. A failure names its seed, which plays the
same history again.
"""

from __future__ import annotations

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import FileKind
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.wire.records.header import ATTRIBUTES_AT, LENGTH_PREFIX_BYTES
from tests.support.kafka.kafka_acceptance import assert_kafka_accepts
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import (
    all_batches,
    assert_sound,
    directory_content,
    stored_batches,
)
from tests.support.storage.log_history import LogHistory
from tests.support.storage.logs import DIRECTORY, Checkpoints, append, opened

pytestmark = pytest.mark.judged

# The number to turn up.
HISTORIES = 2_000
HISTORIES_PER_TEST = 100


@pytest.mark.parametrize("first_seed", range(0, HISTORIES, HISTORIES_PER_TEST))
def test_a_log_outlives_every_crash(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + HISTORIES_PER_TEST):
        try:
            LogHistory(seed).run()
        except Exception as error:
            raise AssertionError(
                f"history {seed} fails; LogHistory({seed}).run() plays it again"
            ) from error


@pytest.mark.parametrize("seed", range(5))
def test_a_history_repeats(seed: int) -> None:
    first, second = LogHistory(seed), LogHistory(seed)
    first.run()
    second.run()
    assert directory_content(first.disk, DIRECTORY) == directory_content(second.disk, DIRECTORY)


CONFIG = LogConfig(segment_bytes=4_000, index_interval_bytes=500)


def flushed_log(disk: SimulatedDisk, dice: SeededDice) -> Log:
    """A few segments, all of them on the device and known to be."""
    log = opened(disk, CONFIG, clean=True)
    for _ in range(dice.between(low=10, high=30)):
        append(log, batch_of(bytes([dice.below(256)]) * dice.choice((10, 200, 900))))
    log.flush()
    Checkpoints(disk).write(log)
    return log


@pytest.mark.parametrize("seed", range(100))
def test_rot_below_the_recovery_point_closes_the_log_instead_of_losing_records(seed: int) -> None:
    disk, dice = SimulatedDisk(), SeededDice(seed)
    log = flushed_log(disk, dice)
    path = log.segments.active.path(FileKind.LOG)
    batch = dice.choice(stored_batches(log.segments.active))
    # Nothing vouches for a batch's offset and leader epoch but the batches around it: the checksum
    # leaves them out, and compaction leaves gaps. The length and everything from the magic on rot.
    checked = [*range(8, LENGTH_PREFIX_BYTES), *range(ATTRIBUTES_AT - 5, len(batch.data))]
    disk.flip_bit(path, position=batch.position + dice.choice(checked), bit=dice.below(8))
    content = directory_content(disk, DIRECTORY)[path.rpartition("/")[2]]
    disk.crash(dice)

    for _ in range(2):
        with pytest.raises(CorruptLogError, match="flushed to this disk"):
            opened(disk, CONFIG)

    assert directory_content(disk, DIRECTORY)[path.rpartition("/")[2]] == content


@pytest.mark.parametrize("seed", range(100))
def test_rot_above_the_recovery_point_costs_what_follows_it(seed: int) -> None:
    disk, dice = SimulatedDisk(), SeededDice(seed)
    log = flushed_log(disk, dice)
    safe = log.log_end_offset
    for number in range(10):
        append(log, batch_of(b"%d" % number))
    log.flush()
    batches = [batch.data for batch in all_batches(log)]
    rotten = dice.between(low=safe, high=safe + 9)
    segment = log.segments.containing(rotten)
    assert segment is not None
    located = segment.locate(rotten)
    assert located is not None
    disk.flip_bit(segment.path(FileKind.LOG), position=located.position + ATTRIBUTES_AT, bit=0)
    disk.crash(dice)

    log = opened(disk, CONFIG)

    assert [batch.data for batch in all_batches(log)] == batches[:rotten]
    assert_sound(log)
    log.close()
    assert_kafka_accepts(disk, DIRECTORY)


@pytest.mark.parametrize("seed", range(100))
def test_indexes_of_a_crashed_log_may_rot_at_will(seed: int) -> None:
    disk, dice = SimulatedDisk(), SeededDice(seed)
    log = flushed_log(disk, dice)
    batches = [batch.data for batch in all_batches(log)]
    path = log.segments.active.path(dice.choice((FileKind.OFFSET_INDEX, FileKind.TIME_INDEX)))
    if disk.file_size(path):
        disk.rot(path, dice)
    disk.crash(dice)

    log = opened(disk, CONFIG)

    assert [batch.data for batch in all_batches(log)] == batches
    assert_sound(log)
    log.close()
    assert_kafka_accepts(disk, DIRECTORY)
