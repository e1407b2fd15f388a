"""A client that had several batches under way when its node went down sends them all again."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.log.append_result import AppendResult
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import append, base_offsets, end_transaction, opened

PRODUCER = 7
SIZE = len(batch_of(b"v" * 50))


def send(log: Log, sequence: int, *, epoch: int = 0, producer_id: int = PRODUCER) -> AppendResult:
    return append(
        log,
        batch_of(b"v" * 50, producer_id=producer_id, producer_epoch=epoch, sequence=sequence),
    )


def restarted(disk: SimulatedDisk, log: Log, *, clean: bool) -> Log:
    if clean:
        log.close()
    else:
        log.flush()
        log.abandon()
    return opened(disk, log.config, clean=clean)


def refused(log: Log, sequence: int) -> ErrorCode:
    with pytest.raises(KafkaError) as refusal:
        send(log, sequence)
    return refusal.value.code


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("batches_per_segment", [100, 2, 1])
def test_what_was_sent_before_a_restart_is_known_after_it(
    clean: bool, batches_per_segment: int
) -> None:
    disk = SimulatedDisk()
    log = opened(disk, LogConfig(segment_bytes=batches_per_segment * SIZE), clean=True)
    for sequence in range(8):
        send(log, sequence)
        send(log, sequence, producer_id=9)
    log = restarted(disk, log, clean=clean)
    assert len(base_offsets(log)) == max(16 // batches_per_segment, 1)

    for sequence in range(3, 8):
        again = send(log, sequence)
        assert (again.is_duplicate, again.first_offset) == (True, 2 * sequence)
    assert send(log, 8).first_offset == 16
    # Five are remembered, as if nothing had happened.
    assert refused(log, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_gap_is_a_gap_after_a_restart_too() -> None:
    disk = SimulatedDisk()
    log = opened(disk, LogConfig(), clean=True)
    send(log, 0)
    log = restarted(disk, log, clean=True)

    assert refused(log, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused(log, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 1).first_offset == 1


def test_batches_of_an_older_epoch_are_not_remembered_for_the_next() -> None:
    disk = SimulatedDisk()
    log = opened(disk, LogConfig(), clean=True)
    for sequence in range(3):
        send(log, sequence)
    send(log, 0, epoch=1)
    log = restarted(disk, log, clean=True)

    with pytest.raises(KafkaError) as refusal:
        send(log, 2, epoch=1)
    assert refusal.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 0, epoch=1).is_duplicate


def test_after_a_truncation_the_rest_is_remembered() -> None:
    disk = SimulatedDisk()
    log = opened(disk, LogConfig(segment_bytes=2 * SIZE), clean=True)
    for sequence in range(6):
        send(log, sequence)
    log.truncate_to(4, now_ms=0)

    assert send(log, 1).first_offset == 1
    assert send(log, 4).first_offset == 4
    assert not send(log, 5).is_duplicate


def test_batches_of_a_transaction_are_remembered_past_its_marker() -> None:
    disk = SimulatedDisk()
    log = opened(disk, LogConfig(), clean=True)
    for sequence in range(3):
        append(
            log,
            batch_of(b"v", producer_id=PRODUCER, sequence=sequence, is_transactional=True),
        )
    end_transaction(log, producer_id=PRODUCER, commit=True)
    log = restarted(disk, log, clean=True)

    again = batch_of(b"v", producer_id=PRODUCER, sequence=1, is_transactional=True)
    assert append(log, again).first_offset == 1
