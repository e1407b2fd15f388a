"""A client that sends, or fetches, all that its quota lets it: one request after the other."""

from __future__ import annotations

import socket  # noqa: TID251 - the benchmark stands outside of the node
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from struct import Struct
from typing import Any, Final

from benchmarks.versus.wire_client import WireClient, WireError, create_topics
from ottla.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
)
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.records.builder import batch_of_one, lone_record
from ottla.wire.requests import decode_response, encode_request
from ottla.wire.schema import Message

# The last versions that have the topic's name.
_VERSION: Final = 12
_QUOTAS_VERSION: Final = 1
_SIZE: Final = Struct(">i")
_TIMEOUT_SECONDS: Final = 60.0


def set_quotas(address: str, client_id: str, quotas: Mapping[str, float | None]) -> None:
    """None removes a quota."""
    ops = [
        OpData(key=key, remove=True) if value is None else OpData(key=key, value=value)
        for key, value in quotas.items()
    ]
    entity = [EntityData(entity_type="client-id", entity_name=client_id)]
    request = AlterClientQuotasRequest(
        entries=[AlterClientQuotasRequestEntryData(entity=entity, ops=ops)]
    )
    with WireClient(address) as client:
        answer = client.send_request(request, _QUOTAS_VERSION, AlterClientQuotasResponse)
    for entry in answer.entries:
        if entry.error_code:
            raise WireError(f"the quotas of {client_id} were not set: {entry.error_message}")


def produce_request(topic: str, size: int) -> ProduceRequest:
    batch = bytes(
        batch_of_one(lone_record(b"", b"x" * size), timestamp=time.time_ns() // 1_000_000)
    )
    data = [PartitionProduceData(index=0, records=batch)]
    topics = [TopicProduceData(name=topic, partition_data=data)]
    return ProduceRequest(acks=1, timeout_ms=30_000, topic_data=topics)


def fetch_request(topic: str, size: int) -> FetchRequest:
    """Of the first records, again and again."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=size)
    topics = [FetchTopic(topic=topic, partitions=[partition])]
    return FetchRequest(
        max_wait_ms=100, min_bytes=1, max_bytes=size, session_epoch=-1, topics=topics
    )


class RawClient:
    """Sends one encoded request again and again."""

    def __init__(self, address: str, client_id: str, request: Message) -> None:
        assert request.api_key is not None
        self._key = request.api_key
        self.sent = b"".join(
            encode_request(request, _VERSION, correlation_id=1, client_id=client_id)
        )
        host, _, port = address.rpartition(":")
        self.connection = socket.create_connection((host, int(port)), timeout=_TIMEOUT_SECONDS)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(self) -> tuple[int, Any]:
        """The number of bytes of a response, and the response. As a client should, it waits for its
        throttle time."""
        self.connection.sendall(self.sent)
        size = _SIZE.unpack(self._receive(_SIZE.size))[0]
        _, response = decode_response(self._receive(size), self._key, _VERSION)
        answer: Any = response
        if answer.throttle_time_ms:
            time.sleep(answer.throttle_time_ms / 1_000)
        return size, answer

    def exchange_many(self, count: int) -> None:
        """Sends requests at once, and receives all responses."""
        self.connection.sendall(self.sent * count)
        for _ in range(count):
            self._receive(_SIZE.unpack(self._receive(_SIZE.size))[0])

    def close(self) -> None:
        self.connection.close()

    def _receive(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            chunk = self.connection.recv(min(size - len(received), 1 << 20))
            if not chunk:
                raise ConnectionResetError("the server closed the connection")
            received += chunk
        return bytes(received)


@contextmanager
def connected(address: str, client_id: str, request: Message) -> Iterator[RawClient]:
    client = RawClient(address, client_id, request)
    try:
        yield client
    finally:
        client.close()


def produced(address: str, topic: str, client_id: str, seconds: float) -> list[tuple[float, int]]:
    """Times since the start and numbers of bytes."""
    request = produce_request(topic, 100_000)
    return _exchanged(address, client_id, request, seconds, counts_request=True)


def fetched(address: str, topic: str, client_id: str, seconds: float) -> list[tuple[float, int]]:
    request = fetch_request(topic, 100_000)
    return _exchanged(address, client_id, request, seconds, counts_request=False)


def _exchanged(
    address: str, client_id: str, request: Message, seconds: float, *, counts_request: bool
) -> list[tuple[float, int]]:
    events = []
    with connected(address, client_id, request) as client:
        started = time.perf_counter()
        while (now := time.perf_counter() - started) < seconds:
            size, _ = client.exchange()
            events.append((now, len(client.sent) if counts_request else size))
    return events


def fill(address: str, topic: str) -> None:
    create_topics(address, [topic], partitions=1)
    with connected(address, "fill", produce_request(topic, 100_000)) as client:
        for _ in range(10):
            client.exchange()
