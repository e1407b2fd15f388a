"""One life of a log after the other, by chance: what it is asked to do, and what must be left.

A life is a run of appends, flushes, rolls, truncations and deletions. It ends with a clean close,
with the death of the process, or with a power loss, between two operations or in the middle of one;
so may the recovery that follows. The same seed plays the same history again.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.model import KafkaError
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.wire.records.header import BatchHeader, read_header
from tests.support.kafka.kafka_acceptance import assert_kafka_accepts
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import all_batches, directory_content
from tests.support.storage.log_operations import LogOperations
from tests.support.storage.logs import DIRECTORY, NOW_MS, opened

OPERATIONS_MAX = 40
LIVES_MAX = 3
# An append is one change of the disk; a flush or a truncation takes a dozen.
CHANGES_MAX = 150
RECOVERY_CHANGES_MAX = 40


class LogHistory(LogOperations):
    """Plays a log's history and holds what each death leaves against what may be left."""

    def __init__(self, seed: int | str) -> None:
        super().__init__(SeededDice(seed))
        # What a crash took, for producers to send again.
        self.lost: list[bytes] = []

    def run(self) -> None:
        for _ in range(self.dice.between(low=1, high=LIVES_MAX)):
            self.live()
        self.close()
        assert_kafka_accepts(self.disk, DIRECTORY)

    def live(self) -> None:
        """Runs until the log is closed, or dies, and is opened again."""
        dice, is_clean = self.dice, False
        if dice.chance(0.5):
            self.disk.faults.power_off_after(dice.below(CHANGES_MAX))
        try:
            for _ in range(dice.below(OPERATIONS_MAX)):
                self.operate()
            if dice.chance(0.2):
                self.close()
                is_clean = True
                assert_kafka_accepts(self.disk, DIRECTORY)
        except PowerLost:
            pass
        self.die()
        while not self.reopen(is_clean=is_clean):
            self.die()
        self.adopt()
        self.resend()
        self.refuse_gaps()
        self.check()

    def operate(self) -> None:
        """Does one thing, most often an append."""
        rarely: list[Callable[[], None]] = [
            self.flush,
            self.flush,
            self.prepare_flush,
            self.run_flush,
            self.complete_flush,
            self.roll,
            self.truncate,
            self.delete,
            self.expire,
            self.repeat,
            self.append_to_a_full_disk,
        ]
        choice = self.dice.below(100)
        if choice < 60:
            self.append()
        elif choice < 68:
            self.append_as_follower()
        elif choice < 69:
            self.truncate_fully()
        else:
            self.dice.choice(rarely)()

    def close(self) -> None:
        self.complete_flush()
        self.log.close()
        self.synced = self.end
        self.checkpoints.write(self.log)

    def die(self) -> None:
        self.under_way = None
        if self.dice.chance(0.3):
            self.disk.kill()
        else:
            self.disk.crash(self.dice)
            self.written = self.synced

    def reopen(self, *, is_clean: bool) -> bool:
        """Recovers; says whether that came to an end."""
        if not is_clean and self.dice.chance(0.3):
            self.disk.faults.power_off_after(self.dice.below(RECOVERY_CHANGES_MAX))
        try:
            self.log = opened(self.disk, self.config, clean=is_clean)
        except PowerLost:
            return False
        self.disk.faults.power_on()
        if not is_clean and self.dice.chance(0.5):
            self.recover_again()
        return True

    def recover_again(self) -> None:
        content = directory_content(self.disk, DIRECTORY)
        self.disk.kill()
        self.log = opened(self.disk, self.config)
        assert directory_content(self.disk, DIRECTORY) == content, "the second recovery changed it"

    def adopt(self) -> None:
        """Holds what is found against what may be found, and goes on from there."""
        log, found = self.log, [batch.data for batch in all_batches(self.log)]
        possible = self.batches + self.pending
        first = log.segments.first.base_offset
        if found or not self.may_be_empty:
            # Where more was deleted than is left, the log begins anew at its checkpointed start.
            first_max = self.first_max if found else max(self.first_max, log.log_start_offset)
            assert self.first_min <= first <= first_max, "the log begins somewhere else"
            assert log.log_end_offset >= self.written, "what was safe is gone"
        before = [batch for batch in possible if read_header(batch).next_offset <= first]
        self.batches = possible[: len(before) + len(found)]
        assert found == self.batches[len(before) :], "the log is no prefix of what was appended"
        # Producers whose first batches are gone may be unknown, and what they send be refused.
        self.lost = [] if before else possible[len(self.batches) :]
        self.pending = []
        self.starts.add(first)
        self.check()
        self.may_be_empty = False
        self.first_min = self.first_max = first
        self.synced = self.written = log.log_end_offset

    def resend(self) -> None:
        """Producers send again what they got an answer for, and maybe what was lost."""
        kept = [read_header(batch) for batch in self.batches]
        last: dict[int, BatchHeader] = {
            header.producer_id: header for header in kept if not header.is_control
        }
        for producer_id, entry in self.log.producers.state.entries.items():
            if entry.batches and producer_id in last:
                header = last[producer_id]
                batch = self.batches[kept.index(header)]
                result = self.log.append_as_leader(batch, leader_epoch=self.epoch, now_ms=NOW_MS)
                assert result.is_duplicate, f"a duplicate of {header}"
                assert result.last_offset == header.last_offset
        for batch in self.lost if self.dice.chance(0.5) else []:
            again = bytearray(batch)
            self.place(again, self.end)
            self.pending = [bytes(again)]
            self.send(again)
            self.appended()

    def refuse_gaps(self) -> None:
        for producer_id, entry in list(self.log.producers.state.entries.items()):
            batch = batch_of(
                b"gap",
                producer_id=producer_id,
                producer_epoch=entry.producer_epoch,
                sequence=entry.last_sequence + 2,
                is_transactional=True,
            )
            try:
                self.log.append_as_leader(batch, leader_epoch=self.epoch, now_ms=NOW_MS)
            except KafkaError:
                continue
            raise AssertionError(f"producer {producer_id} left a gap in its sequence numbers")
