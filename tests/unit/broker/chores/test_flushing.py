"""When a log is flushed by time."""

from __future__ import annotations

import pytest

from ottla.broker.chores.flushing import Flushing
from ottla.model import TopicPartition
from ottla.storage.log.log import Log
from tests.support.nodes.one_node import OneNode
from tests.support.storage.batches import batch_of

TOPIC = "timed"
INTERVAL_SECONDS = 1.0


class FlushedNode:
    """A node with one topic, on which the test decides when the flushes run."""

    def __init__(self, **configs: str) -> None:
        self.node = OneNode()
        self.node.create_topic(
            TOPIC, configs={name.replace("_", "."): value for name, value in configs.items()}
        )
        broker = self.node.broker
        self._flushing = Flushing(
            broker.clock,
            broker.logs,
            broker.commit,
            lambda _log, _error: None,
            interval_seconds=INTERVAL_SECONDS,
        )

    @property
    def log(self) -> Log:
        return self.node.log(TOPIC)

    def is_flushed(self) -> bool:
        return self.log.recovery_point == self.log.log_end_offset

    def append(self) -> None:
        self.node.append(TOPIC, batch_of(b"v", timestamp=self.node.clock.now_ms()))

    def flush_due(self, *, after_seconds: float = 0.0) -> None:
        self.node.clock.advance(after_seconds)
        self.node.run(self._flushing.flush_due())


def test_log_is_flushed_when_flush_ms_has_passed_since_its_last_flush() -> None:
    flushed = FlushedNode(flush_ms="60000")
    flushed.append()
    flushed.flush_due()
    flushed.flush_due(after_seconds=59.9)
    assert not flushed.is_flushed()
    flushed.flush_due(after_seconds=0.1)
    assert flushed.is_flushed()

    flushed.flush_due(after_seconds=20)
    flushed.append()
    flushed.flush_due(after_seconds=39.9)
    assert not flushed.is_flushed()
    flushed.flush_due(after_seconds=0.1)
    assert flushed.is_flushed()
    flushed.node.stop()


def test_flush_for_another_reason_starts_the_time_again() -> None:
    flushed = FlushedNode(flush_ms="60000", flush_messages="3")
    flushed.append()
    flushed.flush_due()
    flushed.append()
    flushed.append()
    flushed.flush_due(after_seconds=59)
    assert flushed.is_flushed()
    flushed.append()
    flushed.flush_due(after_seconds=59)
    assert not flushed.is_flushed()
    flushed.flush_due(after_seconds=1)
    assert flushed.is_flushed()
    flushed.node.stop()


@pytest.mark.parametrize(("flush_ms", "is_flushed"), [("1000", True), (None, False)])
def test_flush_ms_up_to_the_interval_flushes_at_once_and_none_never(
    flush_ms: str | None, is_flushed: bool
) -> None:
    flushed = FlushedNode(**({} if flush_ms is None else {"flush_ms": flush_ms}))
    flushed.append()
    flushed.flush_due()
    flushed.flush_due(after_seconds=0 if is_flushed else 10**9)
    assert flushed.is_flushed() is is_flushed
    flushed.node.stop()


def test_log_is_flushed_when_retention_waits_for_released_records() -> None:
    flushed = FlushedNode(ottla_delivery_delay_enable="true")
    flushed.append()
    flushed.flush_due()
    assert not flushed.is_flushed()

    held = flushed.node.broker.delays.get(TopicPartition(TOPIC, 0))
    assert held is not None
    held.flushes_to = flushed.log.log_end_offset
    flushed.flush_due()
    assert flushed.is_flushed()
    flushed.node.stop()
