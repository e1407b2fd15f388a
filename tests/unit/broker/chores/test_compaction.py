"""What the operator reads about a compaction."""

from __future__ import annotations

import asyncio
import logging

import pytest

from ottla.broker.chores.compaction import Compaction
from ottla.metrics import Metrics
from ottla.runtime.background import InlineBackground
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.files.file_names import FileKind
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.support.nodes.one_node import OneNode
from tests.support.storage.batches import batch_around, batch_of
from tests.support.storage.held_background import settle


def test_batches_that_cannot_be_read_are_named(
    node: OneNode, caplog: pytest.LogCaptureFixture
) -> None:
    node.create_topic("prices", configs={"cleanup.policy": "compact"})
    partition, log = node.broker.partitions.by_name("prices", 0), node.log("prices")
    for batch in (batch_of(b"old", key=b"k"), batch_of(b"new", key=b"k"), batch_around(b"garbage")):
        partition.append(batch, now_ms=node.clock.now_ms(), origin=Origin.COORDINATOR)
    log.roll(now_ms=node.clock.now_ms())
    compaction = Compaction(
        node.broker.cluster,
        node.clock,
        InlineBackground(),
        node.broker.logs,
        node.broker.commit,
        node.broker.failures,
        Metrics(),
    )

    with caplog.at_level(logging.INFO):
        node.run(finished(node, compaction))

    assert "prices-0: compaction kept batches whose checksum is correct" in caplog.text
    assert "Number of batches: 1. The first: offsets 2 to 2: " in caplog.text
    assert "prices-0: compacted; records before: 3, after: 2" in caplog.text


def test_a_log_that_could_not_be_compacted_is_forgotten_with_its_topic(node: OneNode) -> None:
    node.create_topic("prices", configs={"cleanup.policy": "compact"})
    log, metrics = node.log("prices"), Metrics()
    for _ in range(2):
        node.append("prices", batch_of(b"value", key=b"k"))
    log.roll(now_ms=node.clock.now_ms())
    log.flush()
    node.disk.flip_bit(log.segments.first.path(FileKind.LOG), position=70, bit=0)
    compaction = Compaction(
        node.broker.cluster,
        node.clock,
        InlineBackground(),
        node.broker.logs,
        node.broker.commit,
        node.broker.failures,
        metrics,
    )
    node.run(finished(node, compaction))
    assert list(compaction._failed) == [log]

    request = DeleteTopicsRequest(topics=[DeleteTopicState(name="prices")])
    assert node.send_request(request, 6).responses[0].error_code == 0
    node.run(finished(node, compaction))

    assert not compaction._failed


async def finished(node: OneNode, compaction: Compaction) -> None:
    task = asyncio.ensure_future(compaction.compact_filthiest())
    while not task.done():
        await settle()
        node.clock.advance(0)
