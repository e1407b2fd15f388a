"""A message followed through a node that runs in this process."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

from rich.table import Table

from ottla.broker.handlers import fetch as fetch_handler
from ottla.broker.handlers import produce as produce_handler
from ottla.broker.network import connection as broker_connection
from ottla.cli.display.cells import count
from ottla.cli.display.terminal import open_terminal
from ottla.cli.trace.function_tracer import Call, FunctionTracer, Step
from ottla.model import Offset, TimestampMs
from ottla.replication.partition import Partition
from ottla.runtime.network import Address, Connection
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_connection import SystemConnection
from ottla.runtime.system_disk import SystemDisk, SystemFile
from ottla.runtime.system_network import SystemNetwork
from ottla.storage.batches import leader_batch
from ottla.storage.indexes.offset_index import OffsetIndex
from ottla.storage.log import group_commit
from ottla.storage.log.log import Log
from ottla.storage.producers.producer_history import ProducerHistory
from ottla.storage.segments.segment import Segment
from ottla.testing import Cluster
from ottla.wire import requests
from ottla.wire.frames import FrameReader
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.records.builder import build_batch
from ottla.wire.records.record import Record
from ottla.wire.schema import Message

TOPIC = "traced"
PRODUCE_VERSION = 9
FETCH_VERSION = 12
_WARM_UP = 20


def _size(arguments: Mapping[str, Any]) -> str:
    return count(sum(map(len, arguments["buffers"])), "byte")


def _file(arguments: Mapping[str, Any]) -> str:
    path = arguments["self"].path.rsplit("/", 1)[-1]
    parts = [path]
    if "position" in arguments:
        parts.append(f"at {arguments['position']:,}")
    if "buffers" in arguments:
        parts.append(_size(arguments))
    elif "length" in arguments:
        parts.append(count(arguments["length"], "byte"))
    return ", ".join(parts)


STEPS: dict[Callable[..., Any], Step] = {
    build_batch: Step("build the record batch, compute its CRC-32C"),
    requests.encode_request: Step("encode the request", lambda a: type(a["request"]).__name__),
    SystemConnection.write: Step("send", _size, is_io=True),
    SystemConnection.send_file: Step(
        "send a byte range of the log file (sendfile)",
        lambda a: f"at {a['position']:,}, {count(a['length'], 'byte')}",
        is_io=True,
    ),
    SystemConnection.buffer_updated: Step(
        "receive", lambda a: count(a["nbytes"], "byte"), is_io=True
    ),
    requests.decode_request_head: Step("read the request's header"),
    produce_handler.produce: Step("handle Produce"),
    fetch_handler.fetch: Step("handle Fetch"),
    Partition.append: Step("append to the partition", lambda a: str(a["self"].name)),
    Partition.read: Step("read from the partition", lambda a: f"offset {a['offset']}"),
    leader_batch.check_batch: Step("check header and CRC-32C"),
    ProducerHistory.check: Step("check the producer's epoch and sequence"),
    Log.append_as_leader: Step("append to the log"),
    Log.advance_high_watermark: Step(
        "commit: advance the high watermark", lambda a: f"to {a['offset']}"
    ),
    Segment.append: Step("append to the active segment"),
    OffsetIndex.append: Step("add an index entry", lambda a: f"offset {a['offset']}"),
    OffsetIndex.lookup: Step("look the offset up in the index"),
    SystemFile.write_at: Step("write (pwrite)", _file, is_io=True),
    SystemFile.read_at: Step("read (pread)", _file, is_io=True),
    SystemFile.read_into: Step("read (preadv)", _file, is_io=True),
    SystemFile.sync: Step("sync to the device (fdatasync)", _file, is_io=True),
    SystemDisk.sync_directory: Step("sync the directory", is_io=True),
    group_commit.GroupCommit.when_durable: Step("wait for the next sync (group commit)"),
    requests.encode_whole_response: Step(
        "encode the response", lambda a: type(a["response"]).__name__
    ),
    requests.encode_response_into: Step(
        "encode the response, with byte ranges of files", lambda a: type(a["response"]).__name__
    ),
    broker_connection.ClientConnection.buffer_filled: Step("read requests from the received bytes"),
    requests.decode_response: Step("decode the response"),
}


@dataclass(slots=True)
class _Exchange:
    """A request on its way, from the client's side. One at a time."""

    frames: FrameReader
    answered: asyncio.Future[memoryview]

    def connected(self, connection: Connection) -> None: ...

    def get_buffer(self, size_hint: int) -> memoryview:  # noqa: ARG002 - the seam's signature
        return self.frames.get_buffer()

    def buffer_filled(self, length: int) -> None:
        self.frames.buffer_filled(length)
        frame = self.frames.next_frame()
        if frame is not None:
            self.answered.set_result(frame)

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def closed(self, error: Exception | None) -> None:
        if not self.answered.done():
            self.answered.set_exception(
                error or ConnectionResetError("the node closed the connection")
            )


def run_trace(*, size: int, sync: bool, as_json: bool) -> None:
    configs = {"flush.messages": "1"} if sync else {}
    steps = {function.__code__: step for function, step in STEPS.items()}
    # Before any thread of the node's is started.
    worker = FunctionTracer("worker", steps)
    worker.install_for_new_threads()
    with (
        tempfile.TemporaryDirectory(prefix="ottla-trace-") as directory,
        Cluster(data_dir=directory) as cluster,
    ):
        cluster.create_topic(TOPIC, configs=configs)
        calls = asyncio.run(follow_message(cluster, size, steps, worker))
    worker.uninstall_for_new_threads()
    if as_json:
        for call in calls:
            print(json.dumps(_as_json(call, calls[0].started_ns)))
    else:
        open_terminal().stdout.print(_table(calls))


async def follow_message(
    cluster: Cluster, size: int, steps: Mapping[CodeType, Step], worker: FunctionTracer
) -> list[Call]:
    """Sends and fetches messages until everything is warm, then one more under the tracer."""
    host, _, port = cluster.bootstrap.rpartition(":")
    exchange = _Exchange(FrameReader(frame_bytes_max=100 << 20), _future())
    client, node = FunctionTracer("client", steps), FunctionTracer("node", steps)
    connection = await SystemNetwork().connect(Address(host, int(port)), exchange)
    for _ in range(_WARM_UP):
        await _send_and_fetch(connection, exchange, size, offset=0)
    cluster.call_in_loop(node.install)
    worker.is_active = True
    client.install()
    await _send_and_fetch(connection, exchange, size, offset=_WARM_UP)
    client.uninstall()
    worker.is_active = False
    cluster.call_in_loop(node.uninstall)
    connection.close()
    calls = client.calls + node.calls + worker.calls
    return sorted(calls, key=lambda call: call.started_ns)


async def _send_and_fetch(
    connection: Connection, exchange: _Exchange, size: int, *, offset: int
) -> None:
    now_ms = SystemClock().now_ms()
    record = Record(Offset(0), TimestampMs(now_ms), b"key", b"v" * size)
    produce = ProduceRequest(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[
            TopicProduceData(
                name=TOPIC,
                partition_data=[PartitionProduceData(records=build_batch([record]))],
            )
        ],
    )
    await _send_request(connection, exchange, produce, PRODUCE_VERSION)
    fetch = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        topics=[
            FetchTopic(
                topic=TOPIC,
                partitions=[FetchPartition(fetch_offset=offset, partition_max_bytes=1 << 20)],
            )
        ],
    )
    await _send_request(connection, exchange, fetch, FETCH_VERSION)


async def _send_request(
    connection: Connection, exchange: _Exchange, request: Message, version: int
) -> None:
    exchange.answered = _future()
    parts = requests.encode_request(request, version, correlation_id=1, client_id="ottla-trace")
    connection.write([b"".join(parts)])
    frame = await exchange.answered
    assert request.api_key is not None
    requests.decode_response(frame, request.api_key, version)


def _future() -> asyncio.Future[memoryview]:
    return asyncio.get_running_loop().create_future()


def _table(calls: Iterable[Call]) -> Table:
    table = Table(box=None, padding=(0, 1), title="one message, from send to commit and back")
    for name, justify in (("at µs", "right"), ("took µs", "right"), ("who", "left")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("", style="bold cyan")
    table.add_column("what")
    first = next(iter(calls)).started_ns
    for call in calls:
        style = "bold cyan" if call.step.is_io else ""
        detail = f" [dim]{call.detail}[/]" if call.detail else ""
        table.add_row(
            f"{(call.started_ns - first) / 1_000:,.0f}",
            f"{call.took_us:,.0f}",
            call.thread,
            "I/O" if call.step.is_io else "",
            "  " * call.depth + call.step.label + detail,
            style=style,
        )
    table.caption = "Steps that do I/O are marked. Tracing makes a run several times slower."
    return table


def _as_json(call: Call, first_ns: int) -> dict[str, object]:
    return {
        "at_us": (call.started_ns - first_ns) / 1_000,
        "took_us": call.took_us,
        "who": call.thread,
        "what": call.step.label,
        "detail": call.detail,
        "is_io": call.step.is_io,
        "depth": call.depth,
    }
