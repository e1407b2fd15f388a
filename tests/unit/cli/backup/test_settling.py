"""Which transactions of a partition are in a backup, case by case."""

from __future__ import annotations

from collections import Counter

import pytest

from ottla.cli.backup.settling import (
    CutAnchor,
    DecisionsAtCut,
    EndedTransaction,
    Erasing,
    Erasure,
    OpenedTransaction,
    ProducerAtCut,
    UndecidableError,
    erased_batch,
    erasures,
)
from ottla.model import NO_PRODUCER_ID, Offset, TopicPartition
from ottla.wire.records import assign_offset_and_epoch, iterate_batches, validate_batch
from ottla.wire.records.header import read_header
from tests.support.storage.batches import batch_of

PARTITION = TopicPartition("orders", 0)
NOTHING: frozenset[TopicPartition] = frozenset()
HERE = frozenset({PARTITION})


def cut(
    epoch: int,
    committing: frozenset[TopicPartition] = NOTHING,
    *,
    has_own_epochs: bool = True,
    commits: int | None = None,
) -> DecisionsAtCut:
    """Producer 7; with `commits`, so many decisions since its anchor at offset 100."""
    anchor = None
    if commits is not None:
        anchor = CutAnchor({PARTITION: 100}, Counter({PARTITION: commits}))
    producer = ProducerAtCut(epoch, has_own_epochs, committing, anchor)
    return DecisionsAtCut({7: producer}, frozenset({5}), {PARTITION: 100})


def ended(offset: int, *, epoch: int, marker_epoch: int, producer_id: int = 7) -> EndedTransaction:
    return EndedTransaction(
        producer_id, epoch, marker_epoch, offset - 1, marker_offset=offset, is_commit=True
    )


def test_a_later_epoch_than_at_the_cut_is_erased() -> None:
    markers = [ended(110, epoch=3, marker_epoch=4), ended(120, epoch=4, marker_epoch=5)]
    assert erasures(PARTITION, markers, [], cut(4)) == [Erasure(7, 119, 120)]


def test_an_unknown_producer_is_erased_and_a_replaced_one_is_not() -> None:
    markers = [
        ended(110, epoch=0, marker_epoch=1, producer_id=9),
        ended(120, epoch=0, marker_epoch=1, producer_id=5),
    ]
    assert erasures(PARTITION, markers, [], cut(4)) == [Erasure(9, 109, 110)]


def test_transactions_of_one_epoch_are_counted_from_the_anchor() -> None:
    markers = [ended(each, epoch=4, marker_epoch=4) for each in (90, 110, 120, 130)]
    decisions = cut(4, has_own_epochs=False, commits=2)
    assert erasures(PARTITION, markers, [], decisions) == [Erasure(7, 129, 130)]


def test_transactions_of_one_epoch_cannot_be_decided_without_an_anchor() -> None:
    decisions = cut(4, has_own_epochs=False)
    assert not erasures(PARTITION, [ended(90, epoch=4, marker_epoch=4)], [], decisions)
    with pytest.raises(UndecidableError):
        erasures(PARTITION, [ended(110, epoch=4, marker_epoch=4)], [], decisions)


def test_an_open_transaction_stays_only_if_its_commit_is_decided() -> None:
    left = [OpenedTransaction(7, 3, 150)]
    assert not erasures(PARTITION, [], left, cut(4, HERE))
    [erased] = erasures(PARTITION, [], left, cut(4))
    assert erased[:2] == (7, 150)
    # The transaction after the decided one.
    assert erasures(PARTITION, [], [OpenedTransaction(7, 4, 150)], cut(4, HERE, commits=1))


def test_an_erased_batch_keeps_its_offsets_and_nothing_else() -> None:
    batch = batch_of(b"a", b"b", b"c", producer_id=7, sequence=0, is_transactional=True)
    assign_offset_and_epoch(
        batch, 0, base_offset=Offset(40), leader_epoch=read_header(batch).leader_epoch
    )
    header = read_header(batch)
    assert Erasing([Erasure(7, 40, 42)]).erases(header)
    assert not Erasing([Erasure(7, 41, 50), Erasure(8, 0, 99)]).erases(header)
    erased = erased_batch(header)
    [(_, found)] = iterate_batches(erased, strict=True)
    validate_batch(erased, allow_gaps=True)
    assert (found.base_offset, found.next_offset, found.record_count) == (40, 43, 0)
    assert found.producer_id == NO_PRODUCER_ID
    assert not found.is_transactional
