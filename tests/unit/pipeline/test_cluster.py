"""What is tried again, and for how long."""

from __future__ import annotations

import asyncio

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.pipeline.reading.cluster import SourceCluster
from ottla.pipeline.reading.errors import ClusterError
from ottla.runtime.system_network import SystemNetwork


class HastyClock:
    """Sleeps in no time."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def call_later(self, seconds: float, callback: object) -> HastyClock:
        return self

    def cancel(self) -> None:
        """As a timer, which never runs out: what is tried here fails at once."""


def persist(*, failures: int, code: ErrorCode) -> tuple[int, float]:
    """How often it was tried, and for how long."""
    clock, tries = HastyClock(), 0

    async def attempt() -> int:
        nonlocal tries
        tries += 1
        if tries <= failures:
            raise KafkaError(code, "asking")
        return tries

    async def run() -> int:
        given = (SystemNetwork(), clock)
        async with SourceCluster((), *given, client_id="x", timeout_ms=60_000) as cluster:  # type: ignore[arg-type]
            return await cluster.persist(attempt)

    return asyncio.run(run()), clock.now_s


def test_a_topic_that_a_node_does_not_know_yet_is_requested_again() -> None:
    assert persist(failures=3, code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)[0] == 4


def test_a_topic_that_stays_unknown_is_gone() -> None:
    with pytest.raises(ClusterError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        persist(failures=1_000, code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def test_what_passes_is_tried_until_the_time_is_up() -> None:
    tries, seconds = persist(failures=100, code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert (tries, seconds > 15) == (101, True)
    with pytest.raises(ClusterError, match="no response for 60000 ms"):
        persist(failures=1_000, code=ErrorCode.NOT_LEADER_OR_FOLLOWER)


def test_a_refusal_is_not_tried_again() -> None:
    with pytest.raises(ClusterError, match="TOPIC_AUTHORIZATION_FAILED"):
        persist(failures=1, code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
