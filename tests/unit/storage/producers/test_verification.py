"""Which batches may open a transaction (KIP-890), with Kafka's rules."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.simulation import SimulatedDisk
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.log.log import Log
from ottla.storage.producers.verification import Verification
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import end_transaction, new_log, opened

PRODUCER = 7


@pytest.fixture
def log() -> Log:
    return new_log(transaction_verification_enable=True)


def start(
    log: Log, *, epoch: int = 0, sequence: int = 0, bumps: bool = False, now_ms: int = 0
) -> Verification | None:
    return log.producers.state.start_verification(
        producer_id=PRODUCER,
        producer_epoch=epoch,
        sequence=sequence,
        supports_epoch_bump=bumps,
        now_ms=now_ms,
    )


def append(
    log: Log,
    verification: Verification | None = None,
    *,
    epoch: int = 0,
    sequence: int = 0,
    origin: Origin = Origin.CLIENT,
    is_transactional: bool = True,
) -> int:
    batch = batch_of(
        b"v",
        producer_id=PRODUCER,
        producer_epoch=epoch,
        sequence=sequence,
        is_transactional=is_transactional,
    )
    result = log.append_as_leader(
        batch, leader_epoch=0, now_ms=0, origin=origin, verification=verification
    )
    return result.first_offset


def end(log: Log, *, epoch: int) -> None:
    end_transaction(log, producer_id=PRODUCER, producer_epoch=epoch, commit=False)


def refused(log: Log, verification: Verification | None = None, **batch: int | Origin) -> ErrorCode:
    end = log.log_end_offset
    with pytest.raises(KafkaError) as refusal:
        append(log, verification, **batch)  # type: ignore[arg-type]  # as append has them
    assert log.log_end_offset == end
    return refusal.value.code


def test_an_unverified_batch_opens_no_transaction(log: Log) -> None:
    assert refused(log) == ErrorCode.INVALID_TXN_STATE
    assert refused(log, origin=Origin.COORDINATOR, sequence=-1) == ErrorCode.INVALID_TXN_STATE
    assert log.producers.state.first_unstable_offset is None


def test_a_verified_batch_opens_it_and_the_rest_needs_no_verification(log: Log) -> None:
    assert append(log, start(log)) == 0
    assert start(log, sequence=1) is None
    assert append(log, sequence=1) == 1


def test_what_was_verified_counts_once(log: Log) -> None:
    verification = start(log)
    append(log, verification)
    end(log, epoch=0)

    assert refused(log, verification, sequence=1) == ErrorCode.INVALID_TXN_STATE


def test_a_batch_that_comes_after_its_marker_opens_nothing(log: Log) -> None:
    """The hanging transaction: the coordinator aborted while the batch was under way."""
    verification = start(log)
    end(log, epoch=0)

    assert refused(log, verification) == ErrorCode.INVALID_TXN_STATE


def test_without_the_config_nothing_has_to_be_verified() -> None:
    assert append(new_log(transaction_verification_enable=False)) == 0


def test_the_config_may_change_while_the_log_is_open(log: Log) -> None:
    other = new_log(transaction_verification_enable=False)
    log.reconfigure(other.config)

    assert append(log) == 0


def test_idempotent_producers_are_not_verified(log: Log) -> None:
    assert append(log, is_transactional=False) == 0


def test_a_fenced_producer_is_refused_without_a_verification_request(log: Log) -> None:
    append(log, start(log, epoch=3), epoch=3)
    end(log, epoch=4)

    with pytest.raises(KafkaError) as refusal:
        start(log, epoch=3)
    assert refusal.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert refused(log, epoch=3, sequence=1) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_retry_of_the_first_batch_is_known_after_the_transaction_has_ended(log: Log) -> None:
    append(log, start(log))
    end(log, epoch=0)

    assert append(log) == 0


def test_the_lowest_sequence_that_waits_is_the_first(log: Log) -> None:
    later = start(log, sequence=5)
    first = start(log, sequence=3)
    assert first is later

    assert refused(log, first, sequence=5) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, first, sequence=3) == 0
    assert append(log, sequence=4) == 1


def test_another_epoch_starts_the_lowest_sequence_over(log: Log) -> None:
    start(log, epoch=0, sequence=2)
    verification = start(log, epoch=1, sequence=4)

    assert refused(log, verification, epoch=1, sequence=5) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, verification, epoch=1, sequence=4) == 0


def test_an_older_epoch_leaves_the_lowest_sequence(log: Log) -> None:
    verification = start(log, epoch=1, sequence=4)
    start(log, epoch=0, sequence=0)

    assert append(log, verification, epoch=1, sequence=4) == 0


def test_with_transaction_version_2_a_transaction_begins_with_sequence_0(log: Log) -> None:
    verification = start(log, sequence=3, bumps=True)

    assert refused(log, verification, sequence=3) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    start(log, sequence=0, bumps=True)
    assert append(log, verification, sequence=0) == 0


def test_with_transaction_version_2_the_same_after_a_marker_that_raised_the_epoch(log: Log) -> None:
    append(log, start(log, bumps=True))
    end(log, epoch=1)
    verification = start(log, epoch=1, sequence=1, bumps=True)

    assert refused(log, verification, epoch=1, sequence=1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_version_2_marker_leaves_what_was_verified_for_the_next_transaction(log: Log) -> None:
    append(log, start(log, bumps=True))
    verification = start(log, epoch=1, bumps=True)
    end(log, epoch=1)

    assert append(log, verification, epoch=1) == 2


def test_a_version_1_marker_of_the_same_epoch_ends_what_was_verified(log: Log) -> None:
    verification = start(log, epoch=1, bumps=False)
    end(log, epoch=1)

    assert refused(log, verification, epoch=1) == ErrorCode.INVALID_TXN_STATE


def test_verifications_expire_like_producers(log: Log) -> None:
    verification = start(log, now_ms=1_000)
    log.producers.state.remove_expired(1_000 + log.config.producer_id_expiration_ms - 1)
    assert start(log) is verification

    log.producers.state.remove_expired(1_000 + log.config.producer_id_expiration_ms)
    assert start(log) is not verification


def test_a_transaction_that_was_open_is_open_after_a_restart_and_needs_no_verification() -> None:
    disk = SimulatedDisk()
    log = new_log(disk, transaction_verification_enable=True)
    append(log, start(log))
    log.close()

    log = opened(disk, log.config, clean=True)
    assert start(log, sequence=1) is None
    assert append(log, sequence=1) == 1
