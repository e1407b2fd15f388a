"""A log beside the plain list of its batches: any order of operations, and every way to read it."""

from __future__ import annotations

import random  # noqa: TID251  Hypothesis stands behind it

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ottla.runtime.dice import RandomDice
from ottla.storage.log.offset_lookup import find_offset
from ottla.wire.records.header import BatchHeader, read_header
from tests.support.kafka.kafka_acceptance import assert_kafka_accepts
from tests.support.storage.log_checks import aborted_in
from tests.support.storage.log_operations import LogOperations
from tests.support.storage.logs import DIRECTORY, base_offsets, opened, read_all

pytestmark = pytest.mark.judged

OFFSETS = st.integers(0, 200)


class LogBesideAList(RuleBasedStateMachine):
    """`batches` is the model: what was appended, with its place patched in, and not cut off."""

    model: LogOperations

    @initialize(chance=st.randoms(use_true_random=False))
    def begin(self, chance: random.Random) -> None:
        self.model = LogOperations(RandomDice(chance))

    @rule(times=st.integers(1, 5))
    def append(self, times: int) -> None:
        for _ in range(times):
            self.model.append()

    @rule()
    def append_as_follower(self) -> None:
        self.model.append_as_follower()

    @rule()
    def repeat(self) -> None:
        self.model.repeat()

    @rule()
    def append_to_a_full_disk(self) -> None:
        self.model.append_to_a_full_disk()

    @rule()
    def roll(self) -> None:
        self.model.roll()

    @rule()
    def truncate(self) -> None:
        self.model.truncate()

    @precondition(lambda self: self.model.end > 50)
    @rule()
    def truncate_fully(self) -> None:
        self.model.truncate_fully()

    @rule()
    def delete_records_and_segments(self) -> None:
        self.model.delete()
        self.model.expire()

    @rule()
    def flush(self) -> None:
        self.model.flush()

    @rule()
    def close_and_open(self) -> None:
        model, high_watermark = self.model, self.model.log.high_watermark
        self.close()
        model.checkpoints.write(model.log)
        model.log = opened(model.disk, model.config, clean=True)
        model.log.advance_high_watermark(high_watermark)

    @rule(
        place=OFFSETS,
        upper=OFFSETS,
        bytes_max=st.sampled_from([0, 1, 100, 1_000, 100_000]),
        min_one_batch=st.booleans(),
    )
    def read(self, place: int, upper: int, bytes_max: int, min_one_batch: bool) -> None:
        log = self.model.log
        offset = min(log.log_start_offset + place, log.log_end_offset)
        upper = min(log.log_start_offset + upper, log.log_end_offset)
        first, *others = [*base_offsets(log), log.log_end_offset]
        wanted: list[bytes] = []
        for batch in self.stored():
            header = read_header(batch)
            if header.last_offset < offset:
                first = max(base for base in [first, *others] if base <= header.next_offset)
            elif header.last_offset < upper and not any(
                first < base <= header.base_offset for base in others
            ):
                wanted.append(batch)
        found = log.read(
            offset, bytes_max=bytes_max, upper_offset=upper, min_one_batch=min_one_batch
        )
        size = max(bytes_max, len(wanted[0]) if wanted and min_one_batch else 0)
        if not wanted or not size:
            assert found is None
            return
        assert found is not None
        assert found.read() == b"".join(wanted)[:size]

    @rule(timestamp=st.integers(990, 1_500))
    def look_up_a_timestamp(self, timestamp: int) -> None:
        log = self.model.log
        expected = None
        for header in map(read_header, self.stored()):
            if header.last_offset >= log.log_start_offset and header.max_timestamp >= timestamp:
                offset = max(header.base_offset, log.log_start_offset)
                expected = (header.max_timestamp, offset, header.leader_epoch)
                break
        assert find_offset(log, timestamp) == expected

    @rule(place=OFFSETS, length=OFFSETS)
    def check_aborted_transactions(self, place: int, length: int) -> None:
        log = self.model.log
        start = min(log.log_start_offset + place, log.log_end_offset)
        assert log.aborted_transactions(fetch_offset=start, upper_bound_offset=start + length) == [
            transaction
            for transaction in aborted_in(log).values()
            if transaction.last_offset >= start and transaction.first_offset < start + length
        ]

    @rule()
    def check_last_stable_offset(self) -> None:
        log, headers = self.model.log, [read_header(batch) for batch in self.model.batches]
        possible = set()
        for start in self.model.starts:
            known = [header for header in headers if header.base_offset >= start]
            unstable = first_unstable_offsets(known, high_watermark=log.high_watermark)
            for offsets in unstable:
                offset = max(min(offsets, default=log.log_end_offset), log.log_start_offset)
                possible.add(min(offset, log.high_watermark))
        assert min(possible) <= log.last_stable_offset <= max(possible)

    @invariant()
    def log_holds_what_the_model_says(self) -> None:
        self.model.check()
        stored = b"".join(self.stored())
        log = self.model.log
        assert read_all(log, start=log.log_start_offset, bytes_max=2_000) in stored
        if log.log_start_offset == log.segments.first.base_offset:
            assert read_all(log, bytes_max=2_000) == stored

    def teardown(self) -> None:
        # Hypothesis may run out of choices before there is a log.
        if hasattr(self, "model"):
            self.close()

    def close(self) -> None:
        self.model.log.close()
        assert_kafka_accepts(self.model.disk, DIRECTORY)

    def stored(self) -> list[bytes]:
        first = self.model.log.segments.first.base_offset
        return [batch for batch in self.model.batches if read_header(batch).next_offset > first]


def first_unstable_offsets(
    headers: list[BatchHeader], *, high_watermark: int
) -> tuple[list[int], list[int]]:
    """Where the transactions begin that have no committed marker, and those that have none at all.

    A producer snapshot does not distinguish the two, as in Kafka.
    """
    ongoing: dict[int, int] = {}
    unreplicated = []
    for header in headers:
        if header.is_control:
            first_offset = ongoing.pop(header.producer_id, None)
            if first_offset is not None and header.base_offset >= high_watermark:
                unreplicated.append(first_offset)
        elif header.is_transactional:
            ongoing.setdefault(header.producer_id, header.base_offset)
    return [*ongoing.values(), *unreplicated], [*ongoing.values()]


TestLogBesideAList = LogBesideAList.TestCase
TestLogBesideAList.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
