"""A topic with delayed delivery on a node without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ottla.broker.delaying.held_partition import HeldPartition
from ottla.model import Offset, ProducerEpoch, ProducerId, TimestampMs, TopicPartition
from ottla.storage.batches.leader_batch import Origin
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from ottla.wire.records import (
    BatchHeader,
    ControlRecordType,
    EndTransactionMarker,
    Record,
    build_batch,
    end_transaction_batch,
    iterate_batches,
    iterate_records,
)
from tests.support.nodes.one_node import OneNode

NAME = "later"
ENABLED = {"ottla.delivery.delay.enable": "true"}


def due(
    value: bytes,
    at_ms: int | bytes | None = None,
    *,
    key: bytes | None = None,
    cancels: bool = False,
) -> Record:
    """A record that asks to be delivered at a time, or cancels."""
    headers: tuple[tuple[str, bytes], ...] = ()
    if at_ms is not None:
        text = at_ms if isinstance(at_ms, bytes) else str(at_ms).encode()
        headers += (("ottla-deliver-at", text),)
    if cancels:
        headers += (("ottla-cancel", b""),)
    return Record(Offset(0), TimestampMs(1_000), key, value, headers)


def numbered(records: Iterable[Record]) -> list[Record]:
    return [each._replace(offset=Offset(at)) for at, each in enumerate(records)]


class DelayedTopic:
    """One partition of it."""

    def __init__(self, node: OneNode, configs: dict[str, str] | None = None) -> None:
        self.node = node
        node.create_topic(NAME, configs={**ENABLED, **(configs or {})})

    @property
    def now_ms(self) -> int:
        return self.node.clock.now_ms()

    @property
    def held(self) -> HeldPartition:
        found = self.node.broker.delays.get(TopicPartition(NAME, 0))
        assert found is not None
        return found

    def send(self, *records: Record, acks: int = -1, **batch: Any) -> PartitionProduceResponse:
        return self.send_batch(bytes(build_batch(numbered(records), **batch)), acks=acks)

    def send_batch(self, batch: bytes, *, acks: int = -1) -> PartitionProduceResponse:
        data = PartitionProduceData(index=0, records=batch)
        request = ProduceRequest(
            acks=acks,
            timeout_ms=1_000,
            topic_data=[TopicProduceData(name=NAME, partition_data=[data])],
        )
        response: PartitionProduceResponse = (
            self.node.send_request(request, 9).responses[0].partition_responses[0]
        )
        return response

    def end_transaction(self, producer_id: int, kind: ControlRecordType) -> None:
        """Appends a marker, as the transaction's coordinator does."""
        self.node.broker.partitions.by_name(NAME, 0).append(
            end_transaction_batch(
                EndTransactionMarker(kind, 0),
                producer_id=ProducerId(producer_id),
                producer_epoch=ProducerEpoch(0),
                timestamp=TimestampMs(self.now_ms),
            ),
            now_ms=self.now_ms,
            origin=Origin.COORDINATOR,
        )

    def wait(self, seconds: float) -> None:
        """Lets time pass, in steps of a hundredth of a second."""
        self.node.run(self._wait(seconds))

    async def _wait(self, seconds: float) -> None:
        for _ in range(round(seconds * 100)):
            self.node.clock.advance(0.01)
            for _ in range(5):
                await asyncio.sleep(0)  # noqa: TID251 - lets the tasks run

    def fetch(self, offset: int = 0, *, isolation_level: int = 0) -> bytes:
        """The bytes that a consumer gets."""
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            isolation_level=isolation_level,
            session_epoch=-1,
            topics=[
                FetchTopic(
                    topic=NAME,
                    partitions=[
                        FetchPartition(
                            partition=0,
                            current_leader_epoch=-1,
                            fetch_offset=offset,
                            partition_max_bytes=1 << 20,
                        )
                    ],
                )
            ],
        )
        response = self.node.send_request(request, 12)
        found = response.responses[0].partitions[0]
        assert found.error_code == 0
        return bytes(found.records or b"")

    def batches(
        self, offset: int = 0, *, isolation_level: int = 0
    ) -> Iterator[tuple[BatchHeader, bytes]]:
        """All batches that a consumer gets, from an offset on."""
        while data := self.fetch(offset, isolation_level=isolation_level):
            for at, header in iterate_batches(data):
                yield header, data[at : at + header.size_in_bytes]
                offset = header.next_offset

    def records(self, offset: int = 0, *, isolation_level: int = 0) -> list[Record]:
        """The records in them."""
        return [
            record
            for header, batch in self.batches(offset, isolation_level=isolation_level)
            if not header.is_control
            for record in iterate_records(batch)
        ]

    def values(self) -> Sequence[bytes | None]:
        return [each.value for each in self.records()]
