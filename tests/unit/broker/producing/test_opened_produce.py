"""Batches that take long to open: who waits for them, and who does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from ottla.broker.producing import opened_produce
from ottla.model import ErrorCode
from ottla.runtime.background import WorkerCrashedError
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.records.compression import Codec
from ottla.wire.records.record import iterate_records
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import batch_of
from tests.support.storage.held_background import HeldBackground, settle

# More than the loop has time for.
LARGE_COUNT = 3_000


def large(value: bytes, **options: Any) -> bytes:
    return bytes(batch_of(*[value] * LARGE_COUNT, key=b"k", codec=Codec.LZ4, **options))


def small(value: bytes, **options: Any) -> bytes:
    return bytes(batch_of(value, key=b"k", **options))


def request(*batches: bytes, topic: str = "prices", acks: int = -1) -> ProduceRequest:
    """One batch for each partition, from the first on."""
    data = [
        PartitionProduceData(index=index, records=records) for index, records in enumerate(batches)
    ]
    return ProduceRequest(
        acks=acks,
        timeout_ms=1_000,
        topic_data=[TopicProduceData(name=topic, partition_data=data)],
    )


@pytest.fixture
def background() -> HeldBackground:
    return HeldBackground()


@pytest.fixture
def node(start_node: StartNode, background: HeldBackground) -> Iterator[OneNode]:
    node = start_node(background=background)
    node.create_topic("prices", partitions=2, configs={"cleanup.policy": "compact"})
    node.create_topic("plain")
    background.hold()
    yield node
    assert node.broker.openings.waiting_bytes == 0


async def send(node: OneNode, produce: ProduceRequest) -> asyncio.Task[Any]:
    """The pending answer, once all tasks wait for something else."""
    task = asyncio.ensure_future(node.answer(produce, 9))
    await settle()
    return task


def answers(task: asyncio.Task[Any]) -> list[tuple[int, int]]:
    return [
        (each.error_code, each.base_offset)
        for each in task.result().responses[0].partition_responses
    ]


def values(node: OneNode, index: int = 0) -> list[bytes | None]:
    """The last value of each batch in the log."""
    log = node.log("prices", index)
    found = log.read(0, bytes_max=1 << 20, upper_offset=log.log_end_offset)
    assert found is not None
    data, position, last = found.read(), 0, []
    while position < len(data):
        size = 12 + int.from_bytes(data[position + 8 : position + 12])
        last.append([each.value for each in iterate_records(data[position : position + size])][-1])
        position += size
    return last


def test_a_large_batch_waits_for_a_worker_and_small_ones_do_not(
    node: OneNode, background: HeldBackground
) -> None:
    async def scenario() -> None:
        waiting = await send(node, request(large(b"large")))
        assert not waiting.done()
        other = await send(node, request(small(b"plain"), topic="plain"))
        assert answers(other) == [(0, 0)]
        await background.release()
        assert answers(waiting) == [(0, 0)]

    node.run(scenario())
    assert node.log("prices").log_end_offset == LARGE_COUNT


def test_batches_of_a_partition_are_appended_in_the_order_in_which_they_came(
    node: OneNode, background: HeldBackground
) -> None:
    async def scenario() -> None:
        tasks = [
            await send(node, request(batch))
            for batch in (
                large(b"first", producer_id=9, sequence=0),
                small(b"second", producer_id=9, sequence=LARGE_COUNT),
                large(b"third", producer_id=9, sequence=LARGE_COUNT + 1),
                small(b"fourth", producer_id=9, sequence=2 * LARGE_COUNT + 1),
            )
        ]
        assert not any(task.done() for task in tasks)
        await background.release()
        assert [task.done() for task in tasks] == [True, True, False, False]
        await background.release()
        first, last = 0, 2 * LARGE_COUNT + 1
        expected = [first, LARGE_COUNT, LARGE_COUNT + 1, last]
        assert [answers(task) for task in tasks] == [[(0, offset)] for offset in expected]

    node.run(scenario())
    assert values(node) == [b"first", b"second", b"third", b"fourth"]


def test_requests_for_several_partitions_wait_for_all_of_them_and_never_for_each_other(
    node: OneNode, background: HeldBackground
) -> None:
    async def scenario() -> None:
        one = await send(node, request(large(b"a"), small(b"a")))
        two = await send(node, request(small(b"b"), large(b"b")))
        await background.release()
        assert one.done()
        assert not two.done()
        await background.release()
        assert answers(two) == [(0, LARGE_COUNT), (0, 1)]

    node.run(scenario())
    assert values(node, 0) == values(node, 1) == [b"a", b"b"]


def test_a_large_batch_that_is_refused_lets_the_next_one_go_on(
    node: OneNode, background: HeldBackground
) -> None:
    async def scenario() -> None:
        keyless = bytes(batch_of(*[b"v"] * LARGE_COUNT))
        refused = await send(node, request(keyless))
        taken = await send(node, request(small(b"next")))
        await background.release()
        assert answers(refused) == [(ErrorCode.INVALID_RECORD, -1)]
        (answer,) = refused.result().responses[0].partition_responses
        assert len(answer.record_errors) == LARGE_COUNT
        assert answers(taken) == [(0, 0)]

    node.run(scenario())


def test_a_crashed_worker_is_reported_and_does_not_stop_the_partition(
    node: OneNode, background: HeldBackground, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_arguments: object) -> None:
        raise WorkerCrashedError("the worker process was ended by signal 9")

    async def scenario() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(opened_produce, "_open", crash)
            refused = await send(node, request(large(b"v")))
            await background.release()
        assert answers(refused) == [(ErrorCode.UNKNOWN_SERVER_ERROR, -1)]
        assert answers(await send(node, request(small(b"next")))) == [(0, 0)]

    node.run(scenario())


def test_a_batch_is_opened_again_when_its_topics_config_changed_meanwhile(
    node: OneNode, background: HeldBackground
) -> None:
    resource = AlterConfigsResource(
        resource_type=2,
        resource_name="prices",
        configs=[AlterableConfig(name="compression.type", config_operation=0, value="zstd")],
    )

    async def scenario() -> None:
        waiting = await send(node, request(large(b"v")))
        await node.answer(IncrementalAlterConfigsRequest(resources=[resource]), 1)
        await background.release()
        assert not waiting.done()
        await background.release()
        assert answers(waiting) == [(0, 0)]

    node.run(scenario())
    log = node.log("prices")
    found = log.read(0, bytes_max=1 << 20, upper_offset=log.log_end_offset)
    assert found is not None
    assert found.read()[22] & 7 == Codec.ZSTD


def test_more_bytes_than_may_wait_are_refused_and_can_be_sent_again(
    node: OneNode, background: HeldBackground, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = large(b"first")
    monkeypatch.setattr(opened_produce, "_WAITING_BYTES_MAX", len(first) + 100)

    async def scenario() -> None:
        waiting = await send(node, request(first))
        refused = await send(node, request(large(b"second")))
        assert answers(refused) == [(ErrorCode.NOT_ENOUGH_REPLICAS, -1)]
        await background.release()
        assert answers(waiting) == [(0, 0)]
        again = await send(node, request(large(b"second")))
        await background.release()
        assert answers(again) == [(0, LARGE_COUNT)]

    node.run(scenario())


def test_a_large_batch_without_acks_is_appended_in_its_turn(
    node: OneNode, background: HeldBackground
) -> None:
    async def scenario() -> None:
        produce = request(large(b"first"), acks=0)
        sent = ProduceRequest.decode(produce.encode(9), 9)
        handler = node.broker.apis[0].handler
        context = node.context(9)
        assert handler(context, sent) is None
        await settle()
        second = await send(node, request(small(b"second")))
        assert not second.done()
        await background.release()
        assert answers(second) == [(0, LARGE_COUNT)]

    node.run(scenario())
