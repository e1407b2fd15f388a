"""A coordinator's state is what was written, even if a disk returns something else meanwhile."""

from __future__ import annotations

import pytest

from ottla.broker.handlers.find_coordinator import CoordinatorType
from ottla.model import ErrorCode
from ottla.simulation.disk.disk_faults import Corruption
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.batches.leader_batch import Origin
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.records.compression import Codec
from ottla.wire.records.record import iterate_records
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import (
    GARBAGE_BODIES,
    batch_around,
    compressed_around,
    raw_record,
)
from tests.support.storage.held_background import settle

ID = "transfers"
INIT = InitProducerIdRequest(transactional_id=ID, transaction_timeout_ms=60_000)
CONFIGS = {"transaction.state.log.num.partitions": "1"}
# With these a bit is wrong; with others it may be the wrong sector, of a file that has one only.
SEEDS = (0, 1, 2, 3, 5)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_read_wrongly_is_read_again(
    start_node: StartNode, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    node = with_coordinator(start_node(configs=CONFIGS))
    for _ in range(3):
        last = node.send_request(INIT, 5)
    written = dict(node.broker.coordinators.transactions.all[0].machine.transactions.by_id)
    node.disk.faults.corrupt_sent(Corruption(SeededDice(seed), 1.0, lambda _: True))
    node.run(load_again(node))
    assert node.send_request(INIT, 5).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert "is corrupt; reading it again" in caplog.text

    node.disk.faults.corrupt_sent(None)
    node.clock.advance(10)
    node.run(settle())
    (shard,) = node.broker.coordinators.transactions.all
    assert shard.machine.transactions.by_id.keys() == written.keys()
    again = node.send_request(INIT, 5)
    assert (again.producer_id, again.producer_epoch) == (
        last.producer_id,
        last.producer_epoch + 1,
    )


@pytest.mark.parametrize("load_bytes", [1, 100, 200, 1_000])
def test_a_log_is_read_in_pieces_that_end_within_batches(
    start_node: StartNode, caplog: pytest.LogCaptureFixture, load_bytes: int
) -> None:
    configs = {**CONFIGS, "transaction.state.log.load.buffer.size": str(load_bytes)}
    node = with_coordinator(start_node(configs=configs))
    for _ in range(20):
        last = node.send_request(INIT, 5)
    node.run(load_again(node))
    assert node.send_request(INIT, 5).producer_epoch == last.producer_epoch + 1
    assert "damaged" not in caplog.text


def with_coordinator(node: OneNode) -> OneNode:
    wanted = FindCoordinatorRequest(key_type=CoordinatorType.TRANSACTION, coordinator_keys=[ID])
    node.send_request(wanted, 6)
    return node


async def load_again(node: OneNode) -> None:
    """As when another node has led the partition for a while."""
    partition = node.broker.partitions.by_name("__transaction_state", 0)
    shards = node.broker.coordinators.transactions
    shards.forget(partition)
    shards.follow(partition)
    await settle()


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("is_transactional", [False, True])
@pytest.mark.parametrize("name", ["text", "one record too many", "a key beyond the record"])
def test_a_batch_of_garbage_is_left_out_and_named(
    start_node: StartNode,
    caplog: pytest.LogCaptureFixture,
    name: str,
    is_transactional: bool,
    codec: Codec,
) -> None:
    configs = {**CONFIGS, "transaction.partition.verification.enable": "false"}
    node = with_coordinator(start_node(configs=configs))
    node.send_request(INIT, 5)
    partition = node.broker.partitions.by_name("__transaction_state", 0)
    body, _ = GARBAGE_BODIES[name]
    garbage = compressed_around(
        body, codec=codec, count=2, producer_id=9, sequence=0, is_transactional=is_transactional
    )
    found = partition.append(garbage, now_ms=node.clock.now_ms(), origin=Origin.COORDINATOR)
    last = node.send_request(INIT, 5)

    node.run(load_again(node))

    assert node.send_request(INIT, 5).producer_epoch == last.producer_epoch + 1
    where = f"__transaction_state-0: skipping the batch of offsets {found.first_offset} to"
    assert f"{where} {found.last_offset}, whose checksum is correct" in caplog.text
    assert "is corrupt" not in caplog.text


def test_nothing_of_a_batch_of_garbage_is_applied(start_node: StartNode) -> None:
    node = with_coordinator(start_node(configs=CONFIGS))
    node.send_request(INIT, 5)
    partition = node.broker.partitions.by_name("__transaction_state", 0)
    log = partition.require_log()
    stored = log.read(0, bytes_max=1 << 20, upper_offset=log.log_end_offset)
    assert stored is not None
    (record,) = iterate_records(stored.read())
    # The transaction's own record, deleted, and something behind it.
    body = raw_record(key=record.key, value=None) + b"garbage"
    garbage = batch_around(body, count=2)
    partition.append(garbage, now_ms=node.clock.now_ms(), origin=Origin.COORDINATOR)

    node.run(load_again(node))

    (shard,) = node.broker.coordinators.transactions.all
    assert ID in shard.machine.transactions.by_id
