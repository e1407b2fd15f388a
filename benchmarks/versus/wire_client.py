"""Asks a server by the wire what the measurements need: is it up, make a topic, drop a topic.

A connection of our own instead of a client library's, because it answers "how soon after its start"
to the millisecond, and asks every server the same.
"""

from __future__ import annotations

import socket  # noqa: TID251 - the benchmark stands outside of the node
import time
from collections.abc import Callable, Sequence
from struct import Struct
from types import TracebackType
from typing import Self, TypeVar

from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.wire.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ottla.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from ottla.wire.requests import decode_response, encode_request
from ottla.wire.schema import Message

# Versions that every Kafka 4 speaks.
METADATA_VERSION = 12
_CREATE_TOPICS_VERSION = 7
_DELETE_TOPICS_VERSION = 6
_SIZE = Struct(">i")
_ANSWER_TIMEOUT_S = 120.0
_PAUSE_S = 0.005

Answer = TypeVar("Answer", bound=Message)


class WireError(Exception):
    """The server refused, or did not get there in time."""


class WireClient:
    """One connection; one request at a time. Closed at the end of its `with`."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=_ANSWER_TIMEOUT_S)
        self._correlation_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._socket.close()

    def send_request(self, request: Message, version: int, answer: type[Answer]) -> Answer:
        self._correlation_id += 1
        parts = encode_request(
            request, version, correlation_id=self._correlation_id, client_id="bench"
        )
        self._socket.sendall(b"".join(parts))
        (size,) = _SIZE.unpack(self._receive(_SIZE.size))
        key = answer.api_key
        assert key is not None
        _, response = decode_response(self._receive(size), key, version)
        assert isinstance(response, answer)
        return response

    def _receive(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            chunk = self._socket.recv(size - len(received))
            if not chunk:
                raise ConnectionResetError("the server closed the connection")
            received += chunk
        return bytes(received)


def wait_answered(address: str, *, is_alive: Callable[[], bool], timeout_s: float) -> None:
    """Returns as soon as the server answers Metadata and knows itself as a broker."""
    deadline_s = time.perf_counter() + timeout_s
    while time.perf_counter() < deadline_s:
        if not is_alive():
            raise WireError("its process exited")
        try:
            with WireClient(address) as client:
                request = MetadataRequest(topics=[])
                if client.send_request(request, METADATA_VERSION, MetadataResponse).brokers:
                    return
        except OSError:
            pass
        time.sleep(_PAUSE_S)
    raise WireError(f"nothing answered Metadata at {address} within {timeout_s:g} s")


def wait_led(address: str, names: Sequence[str], *, timeout_s: float) -> None:
    """Waits until each partition of the topics has a leader."""
    topics = [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    deadline_s = time.perf_counter() + timeout_s
    with WireClient(address) as client:
        while time.perf_counter() < deadline_s:
            answer = client.send_request(request, METADATA_VERSION, MetadataResponse)
            if all(map(_is_led, answer.topics)):
                return
            time.sleep(_PAUSE_S)
    raise WireError(f"the topics had no leaders within {timeout_s:g} s")


def _is_led(topic: MetadataResponseTopic) -> bool:
    partitions = topic.partitions
    return not topic.error_code and all(partition.leader_id >= 0 for partition in partitions)


def create_topics(
    address: str, names: Sequence[str], *, partitions: int, replication_factor: int = 1
) -> None:
    """Creates them and waits until they can be written to."""
    order_topics(address, names, partitions=partitions, replication_factor=replication_factor)
    wait_led(address, names, timeout_s=_ANSWER_TIMEOUT_S)


def order_topics(
    address: str, names: Sequence[str], *, partitions: int, replication_factor: int
) -> None:
    """Returns when the controller has them in its log."""
    topics = [
        CreatableTopic(name=name, num_partitions=partitions, replication_factor=replication_factor)
        for name in names
    ]
    request = CreateTopicsRequest(topics=topics)
    with WireClient(address) as client:
        answer = client.send_request(request, _CREATE_TOPICS_VERSION, CreateTopicsResponse)
    for result in answer.topics:
        if result.error_code:
            raise WireError(f"{result.name} was not created: {result.error_message}")


def delete_topic(address: str, name: str) -> None:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=60_000)
    with WireClient(address) as client:
        answer = client.send_request(request, _DELETE_TOPICS_VERSION, DeleteTopicsResponse)
    for result in answer.responses:
        if result.error_code:
            raise WireError(f"{name} was not deleted: {result.error_message}")
