"""A program that writes to a log on a real disk and prints its progress, until it is killed.

    python -m tests.support.storage.log_writer <data directory> <seed>

A line on standard output for each event: `opened`, `appended`, `flushed`, each with the end of the
log it speaks of. Its batches say which offsets they have, so that a reader knows what to expect.
"""

from __future__ import annotations

import sys

from ottla.runtime.system_disk import SystemDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import Checkpoints, append, opened

CONFIG = LogConfig(segment_bytes=20_000, index_interval_bytes=500)
PRODUCERS = 3


def value_at(offset: int) -> bytes:
    return b"%d" % offset * (offset * 7 % 300)


def write(data: str, seed: str) -> None:
    disk, dice = SystemDisk(), SeededDice(seed)
    log = opened(disk, CONFIG, data=data)
    checkpoints = Checkpoints(disk, data)
    report("opened", log.log_end_offset)
    while True:
        append_next(log, dice)
        report("appended", log.log_end_offset)
        if dice.chance(0.1):
            log.flush()
            report("flushed", log.recovery_point)
            checkpoints.write(log)


def append_next(log: Log, dice: SeededDice) -> None:
    start, producer_id = log.log_end_offset, dice.between(low=1, high=PRODUCERS)
    entry = log.producers.state.entries.get(producer_id)
    append(
        log,
        batch_of(
            *(value_at(start + number) for number in range(dice.between(low=1, high=4))),
            producer_id=producer_id,
            sequence=entry.last_sequence + 1 if entry else 0,
        ),
    )


def report(event: str, offset: int) -> None:
    sys.stdout.write(f"{event} {offset}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    write(*sys.argv[1:])
