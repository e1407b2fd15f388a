"""The synchronous consumer: calls that wait, and callbacks in the thread that polls."""

from __future__ import annotations

import threading
from itertools import islice

import pytest

from ottla.client import TopicPartition
from ottla.client.sync import Consumer
from tests.conformance.client.conftest import BrokerUnderTest
from tests.conformance.client.consumers import PROTOCOLS

RECORDS = 30


def member(broker: BrokerUnderTest, group: str, protocol: str, **properties: int) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "heartbeat.interval.ms": 300,
            **{key.replace("_", "."): value for key, value in properties.items()},
        }
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_iteration_callbacks_and_commits_are_those_of_one_thread(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name)
    broker.fill(topic, RECORDS)
    only = TopicPartition(topic, 0)
    threads = []

    with member(broker, name, protocol) as consumer:

        def revoked(partitions: frozenset[TopicPartition]) -> None:
            threads.append(threading.current_thread())
            assert partitions == {only}
            consumer.commit({only: 12})

        consumer.subscribe([topic], on_revoked=revoked)
        values = [record.value for record in islice(consumer, 10)]
        assert values == [b"%d" % number for number in range(10)]
        assert consumer.position(only) == 10
        consumer.commit()
        committed = consumer.committed([only])[only]
        assert committed is not None
        assert committed.offset == 10
        assert [record.offset for record in consumer.poll(5.0)] == list(range(10, RECORDS))
        assert consumer.metrics()["records-consumed-total"] == RECORDS
        consumer.seek(only, 12)
    assert threads == [threading.current_thread()]

    with member(broker, name, protocol) as consumer:
        consumer.subscribe([topic])
        while not (found := consumer.poll(1.0)):
            pass
        assert found[0].offset == 12


def test_a_member_stays_in_its_group_between_two_calls(broker: BrokerUnderTest, name: str) -> None:
    """Heartbeats go on while the program does something else, for longer than a session lasts."""
    topic = broker.create_topic(name)
    lost: list[object] = []
    with member(broker, name, "classic", session_timeout_ms=1_500) as consumer:
        consumer.subscribe([topic], on_lost=lost.append)
        while not consumer.assignment():
            consumer.poll(0.5)
        before = consumer.group_metadata()
        threading.Event().wait(3.0)
        consumer.poll(0.5)
        assert consumer.group_metadata() == before
        assert not lost


def test_an_error_of_a_callback_is_raised_by_poll(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name)

    def assigned(_: frozenset[TopicPartition]) -> None:
        raise LookupError("from the application")

    with member(broker, name, "classic") as consumer:
        consumer.subscribe([topic], on_assigned=assigned)
        with pytest.raises(LookupError):
            consumer.poll(30.0)
