"""The chores of a node meet at a log."""

from __future__ import annotations

import asyncio

from ottla.broker.chores.deleted_space import DeletedSpace
from ottla.broker.chores.housekeeping import Housekeeping, Intervals
from ottla.metrics import Metrics
from ottla.storage.log.group_commit import GroupCommit
from tests.support.nodes.one_node import OneNode
from tests.support.storage.batches import batch_of
from tests.support.storage.held_background import HeldBackground, settle

TOPIC = "compacted"
NEVER = 1e9


def test_a_log_is_flushed_for_all_chores_at_once_and_never_twice_at_a_time() -> None:
    """Two flushes would write the same snapshots of producers, each by way of the same file."""
    node, background = OneNode(), HeldBackground()
    node.create_topic(TOPIC, configs={"cleanup.policy": "compact", "segment.ms": "1"})
    broker = node.broker
    housekeeping = Housekeeping(
        broker.cluster,
        broker.clock,
        broker.dice,
        broker.tasks,
        background,
        broker.logs,
        GroupCommit(background, broker.tasks),
        broker.replication,
        broker.failures,
        broker.connections,
        Metrics(),
        DeletedSpace(
            broker.cluster, broker.logs, broker.failures, broker.changes, broker.background
        ),
        intervals=Intervals(*[NEVER] * 7),
        connection_idle_seconds=NEVER,
    )
    for number in range(3):
        node.append(TOPIC, batch_of(b"%d" % number, key=b"k", timestamp=number * 1_000))
        node.clock.advance(1)
    (directory,), log = node.broker.logs.directories, node.log(TOPIC)

    async def scenario() -> None:
        background.hold()
        compacting = housekeeping._compaction._plan(directory, log)
        chores = asyncio.gather(housekeeping._flushing.flush_due(), compacting)
        await settle()
        assert len(background.held) == 1
        await background.release()
        await chores

    node.run(scenario())
    assert log.recovery_point == 3
    node.stop()
