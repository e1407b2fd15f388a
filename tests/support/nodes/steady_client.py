"""A client that behaves, writing and reading back while others do not."""

from __future__ import annotations

import threading
import time
from array import array
from types import TracebackType
from typing import Self

from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.wire.records.record import iterate_records
from tests.support.nodes.wire_connection import WireConnection
from tests.support.storage.batches import batch_of

TOPIC = "steady"
_PAUSE_SECONDS = 0.01
_ROUNDS_MIN = 10


class SteadyClient:
    """Works in a thread of its own during its `with`, over one connection. At the end every round
    must have brought back the record that it wrote. The duration of each round is kept."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._connection = WireConnection(address)
        topic = CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)
        self._connection.send_request(CreateTopicsRequest(topics=[topic]), 7)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._error: BaseException | None = None
        self._round_seconds = array("d")

    @property
    def rounds(self) -> int:
        return len(self._round_seconds)

    @property
    def slowest_seconds(self) -> float:
        return max(self._round_seconds)

    def percentile_seconds(self, percent: float) -> float:
        ordered = sorted(self._round_seconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while kind is None and self.rounds < _ROUNDS_MIN and self._thread.is_alive():
            self._stopping.wait(_PAUSE_SECONDS)
        self._stopping.set()
        self._thread.join()
        self._connection.socket.close()
        if kind is None and self._error is not None:
            raise self._error

    def _run(self) -> None:
        offset = None
        try:
            while not self._stopping.wait(_PAUSE_SECONDS):
                started = time.perf_counter()
                offset = self._round(offset)
                self._round_seconds.append(time.perf_counter() - started)
        except BaseException as error:
            self._error = error

    def _round(self, last: int | None) -> int:
        value = b"round %d" % self.rounds
        data = [PartitionProduceData(records=bytes(batch_of(value, timestamp=-1)))]
        request = ProduceRequest(
            acks=-1, topic_data=[TopicProduceData(name=TOPIC, partition_data=data)]
        )
        (written,) = self._connection.send_request(request, 9).responses[0].partition_responses
        assert written.error_code == 0, written.error_message
        offset: int = written.base_offset
        assert last is None or offset == last + 1, "another client writes to this topic"
        partition = FetchPartition(fetch_offset=offset, partition_max_bytes=1 << 20)
        fetch = FetchRequest(
            max_wait_ms=1_000,
            min_bytes=1,
            session_epoch=-1,
            topics=[FetchTopic(topic=TOPIC, partitions=[partition])],
        )
        (read,) = self._connection.send_request(fetch, 12).responses[0].partitions
        assert [record.value for record in iterate_records(read.records)] == [value]
        return offset
