"""A coordinator that goes on with the `__transaction_state` that Apache Kafka has written."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.coordinator.transactions.states import TransactionState
from ottla.wire.records import iterate_batches
from tests.support.coordinator.coordinator_log import MemoryLog
from tests.support.coordinator.transaction_shard import TransactionShard
from tests.support.kafka.kafka_fixtures import extract


@pytest.fixture(params=["clean", "unclean"])
def shard(request: pytest.FixtureRequest, tmp_path: Path) -> TransactionShard:
    folder = extract(f"{request.param}/__transaction_state-0", tmp_path)
    log = MemoryLog()
    for segment in sorted(folder.glob("*.log")):
        raw = segment.read_bytes()
        for at, header in iterate_batches(raw):
            log.append(raw[at : at + header.size_in_bytes])
    return TransactionShard(log)


def test_all_transactional_ids_are_known(shard: TransactionShard) -> None:
    found = {each.transactional_id: each for each in shard.machine.transactions}
    assert found
    for transaction in found.values():
        assert transaction.producer_id >= 0
        assert transaction.producer_epoch >= 0
        assert transaction.timeout_ms > 0
        assert (transaction.state is TransactionState.EMPTY) == (transaction.start_ms == -1)


def test_each_producer_can_go_on(shard: TransactionShard) -> None:
    shard.clock.advance(0)
    shard.markers_written()
    for transaction in list(shard.machine.transactions):
        shard.init(transactional_id=transaction.transactional_id)
        shard.markers_written()
        answer = shard.init(transactional_id=transaction.transactional_id).value
        assert answer.error_code == 0
        assert answer.producer_id == transaction.producer_id
        assert answer.producer_epoch > transaction.producer_epoch
