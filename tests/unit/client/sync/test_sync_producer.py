"""Records between an application's thread and the loop's."""

from __future__ import annotations

import contextlib

import pytest

from ottla.client import TimedOutError
from ottla.client.sync import Producer


def test_a_record_is_not_lost_with_a_caller_that_stops_waiting() -> None:
    # Nothing listens there, so the record waits for its topic.
    producer = Producer(bootstrap_servers="127.0.0.1:1", max_block_ms=500)
    with contextlib.closing(producer):
        # As if another thread's send had just begun the taking over.
        producer._is_taking = True
        pending = producer.send("t", b"v")
        with pytest.raises(TimedOutError, match=r"no result within 0.05"):
            pending.result(timeout=0.05)
        with pytest.raises(TimedOutError, match="looking for the topic t"):
            pending.result(timeout=10)
