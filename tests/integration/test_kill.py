"""A real node is killed under load, again and again, and starts by itself on what it left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from ottla.model import ErrorCode
from ottla.simulation.seams.dice import SeededDice
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.record import iterate_records
from tests.support.nodes.node_process import NodeProcess
from tests.support.nodes.numbered_producer import NumberedProducer
from tests.support.nodes.wire_connection import WireConnection
from tests.support.soak import at_scale

ROUNDS = at_scale(quick=10, soak=100)
START_SECONDS_MAX = 10.0
LOAD_MS_MAX = 500
FETCH_BYTES = 1 << 20
# By topic, how many partitions and which configs it has.
TOPICS: dict[str, tuple[int, dict[str, str]]] = {
    "plain": (3, {}),
    "small-segments": (1, {"segment.bytes": str(1 << 20)}),
    "flushed": (2, {"flush.messages": "1"}),
}


def create(connection: WireConnection, name: str) -> ErrorCode:
    partitions, configs = TOPICS.get(name, (2, {}))
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )
    (result,) = connection.send_request(CreateTopicsRequest(topics=[topic]), 7).topics
    return ErrorCode(result.error_code)


def delete(connection: WireConnection, name: str) -> ErrorCode:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=10_000)
    (result,) = connection.send_request(request, 6).responses
    return ErrorCode(result.error_code)


def topic_names(connection: WireConnection) -> set[str]:
    return {
        topic.name for topic in connection.send_request(MetadataRequest(topics=None), 12).topics
    }


def read_values(connection: WireConnection, topic: str, partition: int) -> Iterator[bytes | None]:
    """All values of a partition in their order; offsets must have no gaps."""
    offset = 0
    while True:
        wanted = FetchPartition(
            partition=partition, fetch_offset=offset, partition_max_bytes=FETCH_BYTES
        )
        request = FetchRequest(
            session_epoch=-1, topics=[FetchTopic(topic=topic, partitions=[wanted])]
        )
        (answer,) = connection.send_request(request, 12).responses[0].partitions
        assert answer.error_code == 0
        if not answer.records:
            assert offset == answer.high_watermark
            return
        for position, _ in iterate_batches(answer.records):
            for record in iterate_records(answer.records, position):
                assert record.offset == offset
                yield record.value
                offset += 1


class TopicChurn:
    """Makes and deletes topics during its `with`, and knows which there must be in the end."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        # What was asked for and never answered may be there or not.
        self.there: set[str] = set()
        self.gone: set[str] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stopping.wait(0.005):
            with suppress(OSError), WireConnection(self._address) as connection:
                while not self._stopping.wait(0.005):
                    number += 1
                    name = f"churn-{number}"
                    self._change(lambda: create(connection, name), self.there, name)  # noqa: B023
                    if number % 2:
                        self.there.discard(name)
                        self._change(lambda: delete(connection, name), self.gone, name)  # noqa: B023

    def _change(self, operation: Callable[[], ErrorCode], outcome: set[str], name: str) -> None:
        code = operation()
        assert code is ErrorCode.NONE, code
        outcome.add(name)


def wait_acknowledged(producers: list[NumberedProducer], *, more: int) -> None:
    """Returns when each producer got so many more acknowledgements: the node serves again."""
    goals = [producer.acknowledged_count + more for producer in producers]
    deadline = time.perf_counter() + 60
    while any(
        producer.acknowledged_count < goal for producer, goal in zip(producers, goals, strict=True)
    ):
        assert time.perf_counter() < deadline, "the node acknowledges nothing"
        threading.Event().wait(0.005)


def test_nothing_acknowledged_is_lost_reordered_or_doubled_by_sigkill(tmp_path: Path) -> None:
    dice = SeededDice("kill")
    starts = []
    with NodeProcess(tmp_path) as node:
        with WireConnection(node.address) as connection:
            for name in TOPICS:
                assert create(connection, name) is ErrorCode.NONE
        with ExitStack() as stack:
            producers = [
                stack.enter_context(
                    NumberedProducer({"bootstrap.servers": node.bootstrap}, name, partitions)
                )
                for name, (partitions, _) in TOPICS.items()
            ]
            churn = stack.enter_context(TopicChurn(node.address))
            for _ in range(ROUNDS):
                wait_acknowledged(producers, more=1)
                threading.Event().wait(dice.between(low=0, high=LOAD_MS_MAX) / 1_000)
                node.kill()
                starts.append(node.start())
        with WireConnection(node.address) as connection:
            for producer in producers:
                assert_holds(connection, producer)
            names = topic_names(connection)
            assert churn.there <= names
            assert not churn.gone & names
            assert len(churn.gone) > ROUNDS
        node.assert_no_traceback()
    records = sum(producer.acknowledged_count for producer in producers)
    print(f"{ROUNDS} kills, {records} records, {len(churn.gone)} topics made and deleted,")
    print(f"starts of {sum(starts) / ROUNDS:.2f} s on average, {max(starts):.2f} s at most")
    assert max(starts) < START_SECONDS_MAX


def assert_holds(connection: WireConnection, producer: NumberedProducer) -> None:
    for partition in range(producer.partitions):
        values = list(read_values(connection, producer.topic, partition))
        assert values == [b"%d" % number for number in range(producer.written)]
        for offset, number in producer.acknowledged[partition].items():
            assert values[offset] == b"%d" % number
