"""What counts of a journal in which transactions overlap."""

from __future__ import annotations

from ottla.client.producing.transactions import PreparedTransaction
from ottla.client.two_phase.decisions import (
    BatchDecision,
    DecisionPart,
    Work,
    decode_decision,
    encode_decision,
)
from ottla.client.two_phase.journal import CommittedRecords
from ottla.model import Offset, ProducerEpoch, ProducerId, TimestampMs
from ottla.wire.records.builder import build_batch
from ottla.wire.records.header import read_header
from ottla.wire.records.record import Record
from tests.support.kafka.java_batches import JAVA_BATCHES

NOW = TimestampMs(0)


class Log:
    """Batches of producers, and the ends of their transactions, as the journal reads them."""

    def __init__(self, query: str) -> None:
        self.committed = CommittedRecords(query.encode())

    def write(self, producer_id: int, key: bytes, value: bytes | None) -> None:
        batch = build_batch(
            [Record(Offset(0), NOW, key, value)],
            producer_id=ProducerId(producer_id),
            producer_epoch=ProducerEpoch(0),
            base_sequence=0,
            is_transactional=True,
        )
        self.committed.add(read_header(batch), batch)

    def end(self, producer_id: int, *, commits: bool) -> None:
        batch = JAVA_BATCHES["commit_marker" if commits else "abort_marker"]
        header = read_header(batch)._replace(producer_id=ProducerId(producer_id))
        self.committed.add(header, batch)


def test_records_count_from_the_end_of_their_transaction_on() -> None:
    log = Log("q")
    log.write(1, b"q/0", b"first")
    log.write(2, b"q", b"decided")
    log.end(2, commits=True)
    assert log.committed.values == {b"q": b"decided"}
    log.end(1, commits=True)
    assert log.committed.values == {b"q": b"decided", b"q/0": b"first"}


def test_what_was_aborted_or_is_open_leaves_the_value_before_it() -> None:
    log = Log("q")
    log.write(1, b"q/0", b"first")
    log.end(1, commits=True)
    log.write(1, b"q/0", b"second")
    log.end(1, commits=False)
    log.write(1, b"q/0", b"third")
    assert log.committed.values == {b"q/0": b"first"}


def test_other_queries_are_none_of_this_ones_business() -> None:
    log = Log("q")
    for key in (b"other", b"other/0", b"qq/0", b"qq"):
        log.write(1, key, b"value")
    log.end(1, commits=True)
    # The end of a transaction whose beginning was not read.
    log.end(9, commits=True)
    assert not log.committed.values


def test_a_decision_is_read_as_it_was_written() -> None:
    work = Work("q", 7)
    producer = PreparedTransaction(work.transactional_id(3), ProducerId(2**40), ProducerEpoch(9))
    parts = {3: DecisionPart(3, 1_000, producer), 4: DecisionPart(4, 0, None)}
    decision = BatchDecision(7, parts)
    assert decode_decision(encode_decision(decision)) == decision
    again = DecisionPart(3, 1_000, producer._replace(producer_epoch=ProducerEpoch(10)))
    assert decision.with_parts({3: again}).parts == {3: again, 4: parts[4]}
