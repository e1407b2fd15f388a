"""Delayed delivery: the memory of a million held records, and how late records are at a consumer.

The million is spread over an hour of simulated time, on a real disk. The lateness is measured with
a node and a client in processes of their own, on the real clock: 10,000 records become due in each
second.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.figure import Figure
from ottla.model import TimestampMs
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.simulation import SeededDice, SimulatedDisk
from ottla.wire.records import build_batch
from tests.support.delays.delayed_topic import ENABLED, NAME, DelayedTopic, due, numbered
from tests.support.nodes.nodes import running_node
from tests.support.nodes.one_node import OneNode

RECORDS: Final = 1_000_000
HOUR_MS: Final = 3_600_000
RATE: Final = 10_000
SECONDS: Final = 8
GROWTH_MB_MAX: Final = 32.0
LATENESS_MS_MAX: Final = 50.0
_BATCH: Final = 400
_BATCHES_PER_TURN: Final = 50


def run() -> Iterator[Figure]:
    yield from _million()
    yield from _lateness()


def _million() -> Iterator[Figure]:
    scratch = tempfile.mkdtemp()
    node = OneNode(cast(SimulatedDisk, SystemDisk()), directories=(scratch,))
    topic = DelayedTopic(node)
    clock, dice = SystemClock(), SeededDice(1)
    before = peak = _resident_mb()
    begin = clock.monotonic()
    for _ in range(RECORDS // _BATCH // _BATCHES_PER_TURN):
        node.run(_hold(topic, dice))
        peak = max(peak, _resident_mb())
    held_seconds = clock.monotonic() - begin
    assert topic.held.record_count == RECORDS
    begin = clock.monotonic()
    for _ in range(HOUR_MS // 1_000 + 120):
        node.run(_pass(topic))
        peak = max(peak, _resident_mb())
    released_seconds = clock.monotonic() - begin
    assert node.log(NAME).log_end_offset == 2 * RECORDS
    node.abandon()
    shutil.rmtree(scratch)
    growth = peak - before
    bound = f"<= {GROWTH_MB_MAX:.0f} MB"
    yield Figure("memory of a million", growth, "MB", None, bound, growth <= GROWTH_MB_MAX)
    yield Figure("making and holding a record", held_seconds * 1e6 / RECORDS, "us")
    yield Figure("releasing a record", released_seconds * 1e6 / RECORDS, "us")


async def _hold(topic: DelayedTopic, dice: SeededDice) -> None:
    partition, now_ms = topic.node.broker.partitions.by_name(NAME, 0), topic.now_ms
    for _ in range(_BATCHES_PER_TURN):
        records = numbered(
            due(bytes(100), now_ms + 60_000 + dice.below(HOUR_MS), key=b"key")._replace(
                timestamp=TimestampMs(now_ms)
            )
            for _ in range(_BATCH)
        )
        partition.append(build_batch(records), now_ms=now_ms)
        await asyncio.sleep(0)  # noqa: TID251 - lets the tasks run


async def _pass(topic: DelayedTopic) -> None:
    topic.node.clock.advance(1)
    for _ in range(6):
        await asyncio.sleep(0)  # noqa: TID251 - lets the tasks run


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4_096 / 1e6


def _lateness() -> Iterator[Figure]:
    scratch = tempfile.mkdtemp()
    with running_node(Path(scratch)) as node:
        late = sorted(_lateness_ms({"bootstrap.servers": node.bootstrap, "log_level": 0}))
    shutil.rmtree(scratch)
    assert len(late) == RATE * SECONDS
    for percent in (50, 99):
        value = late[len(late) * percent // 100]
        is_bound = percent == 99
        yield Figure(
            f"lateness at {RATE:,}/s, p{percent}",
            value,
            "ms",
            None,
            f"<= {LATENESS_MS_MAX:.0f} ms" if is_bound else "",
            not is_bound or value <= LATENESS_MS_MAX,
        )


def _lateness_ms(client: dict[str, str | int | float | bool]) -> Iterator[float]:
    clock = SystemClock()
    admin = AdminClient(client)
    for created in admin.create_topics([NewTopic(NAME, 1, config=ENABLED)]).values():
        created.result()
    first_ms = clock.now_ms() + SECONDS * 1_000 + 5_000
    producer = Producer({**client, "linger.ms": 20, "queue.buffering.max.messages": 2_000_000})
    for number in range(RATE * SECONDS):
        at_ms = first_ms + number * 1_000 // RATE
        producer.produce(NAME, bytes(100), headers=[("ottla-deliver-at", str(at_ms))])
        if number % 1_000 == 0:
            producer.poll(0)
    producer.flush()
    consumer = Consumer({**client, "group.id": NAME, "enable.auto.commit": False})
    consumer.assign([TopicPartition(NAME, 0, 0)])
    count, ends_ms = 0, first_ms + 1_000 * SECONDS + 30_000
    while count < RATE * SECONDS and clock.now_ms() < ends_ms:
        messages = consumer.consume(2_000, 0.01)
        now_ms = clock.now_ms()
        for message in messages:
            yield now_ms - int(dict(message.headers() or ())["ottla-deliver-at"] or b"")
        count += len(messages)
    consumer.close()
