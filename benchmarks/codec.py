"""Speed of the messages that a broker reads and writes most, beside kio's.

kio writes in Python and reads in Rust. Each of its entities is made of ours, so both sides encode
and decode the same bytes.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from time import perf_counter

from benchmarks.figure import Figure
from ottla.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from ottla.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ottla.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.requests import decode_request_head, encode_request
from ottla.wire.schema import Message
from tests.conformance.kio.entities import entity_type, read, to_kio, write

MICROSECONDS = 1e6
MILLISECONDS = 1e3
IMPORT_BOUND_S = 0.15


def produce_request() -> ProduceRequest:
    partition = PartitionProduceData(index=3, records=bytes(1000))
    topic = TopicProduceData(name="orders", partition_data=[partition])
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])


def fetch_request() -> FetchRequest:
    partitions = [
        FetchPartition(partition=index, fetch_offset=1_000_000, partition_max_bytes=1 << 20)
        for index in range(10)
    ]
    topic = FetchTopic(topic="orders", partitions=partitions)
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=[topic])


def fetch_response() -> FetchResponse:
    partitions = [
        PartitionData(partition_index=index, high_watermark=1_000_000, records=bytes(1000))
        for index in range(10)
    ]
    return FetchResponse(responses=[FetchableTopicResponse(topic="orders", partitions=partitions)])


def metadata_response() -> MetadataResponse:
    brokers = [
        MetadataResponseBroker(node_id=node, host=f"broker-{node}", port=9092) for node in range(3)
    ]
    partitions = [
        MetadataResponsePartition(
            partition_index=index,
            leader_id=index % 3,
            leader_epoch=4,
            replica_nodes=[0, 1, 2],
            isr_nodes=[0, 1, 2],
        )
        for index in range(1000)
    ]
    topics = [MetadataResponseTopic(name="orders", partitions=partitions)]
    return MetadataResponse(brokers=brokers, cluster_id="ottla", controller_id=1, topics=topics)


def api_versions_response() -> ApiVersionsResponse:
    keys = [ApiVersion(api_key=key, max_version=9) for key in range(75)]
    return ApiVersionsResponse(api_keys=keys)


def seconds_per_call(call: Callable[[], object], *, budget_s: float = 0.5) -> float:
    """The time of a call in the best of several rounds: what it costs when nothing disturbs it."""
    started = perf_counter()
    call()
    rounds = 5
    calls = max(1, int(budget_s / rounds / max(perf_counter() - started, 1e-7)))
    best = float("inf")
    for _ in range(rounds):
        started = perf_counter()
        for _ in range(calls):
            call()
        best = min(best, perf_counter() - started)
    return best / calls


def decoding(name: str, message: Message, version: int, **bound: float) -> Figure:
    data = message.encode(version)
    kind = entity_type(f"{type(message).__name__}Data", version)
    return compared(
        f"decode {name}",
        seconds_per_call(lambda: type(message).decode_from(data, version)),
        seconds_per_call(lambda: read(kind, data)),
        **bound,
    )


def encoding(name: str, message: Message, version: int, **bound: float) -> Figure:
    entity = to_kio(message, entity_type(f"{type(message).__name__}Data", version), version)
    assert write(entity) == message.encode(version)
    return compared(
        f"encode {name}",
        seconds_per_call(lambda: message.encode(version)),
        seconds_per_call(lambda: write(entity)),
        **bound,
    )


def compared(
    name: str, ours_s: float, kios_s: float, *, us_max: float | None = None, ratio_min: float = 0
) -> Figure:
    bounds = [] if us_max is None else [f"< {us_max:g} µs"]
    if ratio_min:
        bounds.append(f"{ratio_min:g} times as fast as kio")
    ours_us = ours_s * MICROSECONDS
    return Figure(
        name=name,
        value=ours_us,
        unit="µs",
        against=kios_s * MICROSECONDS,
        bound=", ".join(bounds),
        holds=(us_max is None or ours_us < us_max) and kios_s >= ratio_min * ours_s,
    )


def request_header() -> Figure:
    parts = encode_request(produce_request(), 9, correlation_id=1, client_id="rdkafka")
    frame = b"".join(parts)[4:]
    ours_us = seconds_per_call(lambda: decode_request_head(frame)) * MICROSECONDS
    return Figure("decode request header", ours_us, "µs", bound="< 2 µs", holds=ours_us < 2)


def import_time(module: str) -> Figure:
    """In a fresh process, by its own clock: what starts before the import does not count."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    runs = [float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in "12345"]
    fastest_s = min(runs)
    return Figure(
        f"import {module}",
        fastest_s * MILLISECONDS,
        "ms",
        bound=f"< {IMPORT_BOUND_S * MILLISECONDS:g} ms",
        holds=fastest_s < IMPORT_BOUND_S,
    )


def run() -> list[Figure]:
    return [
        request_header(),
        decoding("Produce v9 request, 1 partition", produce_request(), 9, us_max=5),
        decoding("Fetch v12 request, 10 partitions", fetch_request(), 12),
        encoding("Fetch v12 response, 10 partitions", fetch_response(), 12),
        encoding(
            "Metadata v12 response, 1,000 partitions",
            metadata_response(),
            12,
            us_max=2000,
            ratio_min=4,
        ),
        decoding("Metadata v12 response, 1,000 partitions", metadata_response(), 12),
        encoding("ApiVersions v4 response, 75 APIs", api_versions_response(), 4),
        import_time("ottla.wire"),
        import_time("ottla.wire.requests"),
    ]
