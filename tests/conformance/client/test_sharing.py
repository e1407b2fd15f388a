"""Share consumers: what they get, and what becomes of records that they do not accept."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

import pytest
from confluent_kafka import Producer

from ottla.client import (
    AcknowledgementOutcome,
    Admin,
    GroupIdNotFoundError,
    IllegalStateError,
    InvalidRecordStateError,
    ShareConsumer,
    SharedRecord,
    TopicPartition,
    UnsupportedVersionError,
    sync,
)
from ottla.client.administration import ConfigResource, ConfigResourceType
from tests.conformance.client.conftest import BrokerUnderTest
from tests.conformance.client.consumers import consumer, run
from tests.conformance.clients import TIMEOUT_S

RECORDS = 60
EXPLICIT = {"share.acknowledgement.mode": "explicit"}


async def configure(broker: BrokerUnderTest, group: str, **configs: str) -> None:
    """A group that begins at the first record."""
    resource = ConfigResource(ConfigResourceType.GROUP, group)
    values = {"share.auto.offset.reset": "earliest", **configs}
    dotted = {key.replace("_", "."): value for key, value in values.items()}
    async with Admin(bootstrap_servers=broker.bootstrap) as admin:
        (await admin.alter_configs({resource: dotted})).all()


def member(broker: BrokerUnderTest, group: str, properties: Any = None) -> ShareConsumer:
    return ShareConsumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": group, **(properties or {})}
    )


async def take(reader: ShareConsumer, count: int) -> list[SharedRecord]:
    """At least so many records, by polls that accept what the last one returned."""
    found: list[SharedRecord] = []
    deadline = perf_counter() + TIMEOUT_S
    while len(found) < count:
        assert perf_counter() < deadline, f"{len(found)} of {count} records"
        found += await reader.poll(0.5)
    return found


def values(records: list[SharedRecord]) -> list[int]:
    return sorted(int(record.value or b"-1") for record in records)


def test_members_share_the_records_of_each_partition(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name, 2)
    broker.fill(topic, RECORDS, partitions=2)
    settings = {"share.acquire.mode": "record_limit", "max.poll.records": 5}

    async def scenario() -> None:
        await configure(broker, name)
        async with member(broker, name, settings) as one, member(broker, name, settings) as other:
            await one.subscribe([topic])
            await other.subscribe([topic])
            found: dict[ShareConsumer, list[SharedRecord]] = {one: [], other: []}

            async def keep(reader: ShareConsumer) -> None:
                while sum(map(len, found.values())) < RECORDS:
                    records = await reader.poll(0.1)
                    assert len(records) <= 5
                    found[reader] += records

            await asyncio.wait_for(asyncio.gather(keep(one), keep(other)), TIMEOUT_S)
            assert values(found[one] + found[other]) == list(range(RECORDS))
            assert all(records for records in found.values())
            assert all(record.delivery_count == 1 for record in found[one])
        async with member(broker, name) as reader:
            await reader.subscribe([topic])
            assert await reader.poll(1.0) == []

    run(scenario())


def test_each_record_is_acknowledged_in_its_own_way(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name)
    broker.fill(topic, RECORDS)
    only = TopicPartition(topic, 0)
    outcomes: list[AcknowledgementOutcome] = []

    async def scenario() -> None:
        await configure(broker, name)
        async with member(broker, name, EXPLICIT) as reader:
            await reader.subscribe([topic], on_acknowledged=outcomes.append)
            records = await take(reader, RECORDS)
            assert reader.lock_seconds == 30.0
            reader.accept(records[0])
            reader.release(records[1:5])
            reader.reject(records[5:10])
            reader.accept(record for record in records[10:20])
            reader.renew(records[20:])
            # The renewals and the others.
            assert (await reader.commit()).all() == {only: RECORDS}
            assert sum(len(each.offsets) for each in outcomes) == RECORDS
            assert {(each.partition, each.error) for each in outcomes} == {(only, None)}
            again = await take(reader, 4)
            assert values(again) == [1, 2, 3, 4]
            assert {record.delivery_count for record in again} == {2}
            reader.accept(again)
            reader.accept(records[20:30])
            # Nothing was said about the others: they are released when it closes.
            assert (await reader.commit()).all() == {only: 14}
        async with member(broker, name) as reader:
            await reader.subscribe([topic])
            assert values(await take(reader, 30)) == list(range(30, RECORDS))

    run(scenario())


def test_what_is_acknowledged_twice_or_too_late_is_reported(
    broker: BrokerUnderTest, name: str
) -> None:
    topic = broker.create_topic(name)
    broker.fill(topic, 2)
    only = TopicPartition(topic, 0)

    async def scenario() -> None:
        await configure(broker, name, share_record_lock_duration_ms="1000")
        async with member(broker, name, EXPLICIT) as reader:
            await reader.subscribe([topic])
            first, second = await take(reader, 2)
            reader.accept(first)
            (await reader.commit()).all()
            reader.release(first)
            assert isinstance((await reader.commit()).failed[only], InvalidRecordStateError)
            # Its lock ends, and it is delivered again.
            (again,) = await take(reader, 1)
            assert (again.offset, again.delivery_count) == (second.offset, 2)
            reader.accept(again)
            assert (await reader.commit()).all() == {only: 1}

    run(scenario())


def test_an_iteration_releases_the_record_that_it_fails_at(
    broker: BrokerUnderTest, name: str
) -> None:
    topic = broker.create_topic(name)
    broker.fill(topic, RECORDS)

    async def process(count: int) -> list[int]:
        seen = []
        async with member(broker, name) as reader:
            await reader.subscribe([topic])
            async for record in reader:
                seen.append(int(record.value or b""))
                if len(seen) == count:
                    break
        return seen

    async def fail(at: int) -> None:
        async with member(broker, name) as reader:
            await reader.subscribe([topic])
            async for record in reader:
                if int(record.value or b"") == at:
                    raise ZeroDivisionError

    async def scenario() -> None:
        await configure(broker, name)
        assert await process(5) == list(range(5))
        with pytest.raises(ZeroDivisionError):
            await fail(10)
        assert await process(RECORDS - 10) == list(range(10, RECORDS))

    run(scenario())


def test_markers_of_transactions_are_no_records(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": name})
    producer.init_transactions(TIMEOUT_S)
    for number in range(4):
        producer.begin_transaction()
        producer.produce(topic, b"%d" % number)
        if number % 2:
            producer.abort_transaction(TIMEOUT_S)
        else:
            producer.commit_transaction(TIMEOUT_S)
    producer.begin_transaction()
    producer.produce(topic, b"4")
    producer.commit_transaction(TIMEOUT_S)

    async def scenario() -> None:
        for isolation, expected in (
            ("read_uncommitted", [0, 2, 4]),
            ("read_committed", [0, 2, 4]),
        ):
            group = f"{name}-{isolation}"
            await configure(broker, group, share_isolation_level=isolation)
            async with member(broker, group) as reader:
                await reader.subscribe([topic])
                found = await take(reader, 3)
                while found[-1].value != b"4":
                    found += await reader.poll(0.5)
                assert set(expected) <= set(values(found))
                if isolation == "read_committed":
                    assert values(found) == expected
                (await reader.commit()).all()

    run(scenario())


def test_a_released_record_waits_as_long_as_the_member_says(
    broker: BrokerUnderTest, name: str
) -> None:
    topic = broker.create_topic(name)
    broker.fill(topic, 3)

    async def scenario() -> None:
        await configure(broker, name)
        async with member(broker, name, EXPLICIT) as reader:
            await reader.subscribe([topic])
            records = await take(reader, 3)
            if broker.kind == "kafka":
                with pytest.raises(UnsupportedVersionError):
                    reader.release(records, delay=0.5)
                return
            started = perf_counter()
            reader.release(records[0], delay=0.3)
            reader.release(records[1], delay=100.0)
            reader.release(records[2])
            (await reader.commit()).all()
            (first,) = await take(reader, 1)
            assert first.offset == 2
            (second,) = await take(reader, 1)
            assert (second.offset, second.delivery_count) == (0, 2)
            assert perf_counter() - started > 0.3
            # 0.2 seconds, doubled for the second delivery.
            started = perf_counter()
            reader.release(second, delay=0.2, backoff=2.0)
            (await reader.commit()).all()
            (third,) = await take(reader, 1)
            assert (third.offset, third.delivery_count) == (0, 3)
            assert perf_counter() - started > 0.4
            with pytest.raises(ValueError, match="negative"):
                reader.release(third, delay=-1)
            reader.accept([first, third])

    run(scenario())


def test_refusals_have_names(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name)
    broker.fill(topic, 1)

    async def scenario() -> None:
        async with consumer(broker.bootstrap, group_id=name) as reader:
            await reader.subscribe([topic])
            while not await reader.poll(0.5):
                pass
            async with member(broker, name) as sharer:
                with pytest.raises(IllegalStateError):
                    await sharer.poll(1.0)
                await sharer.subscribe([topic])
                with pytest.raises(GroupIdNotFoundError):
                    await sharer.poll(TIMEOUT_S)

    run(scenario())


def test_the_synchronous_consumer_does_the_same(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name)
    broker.fill(topic, RECORDS)
    outcomes: list[AcknowledgementOutcome] = []

    asyncio.run(configure(broker, name))
    with sync.ShareConsumer(bootstrap_servers=broker.bootstrap, group_id=name) as reader:
        reader.subscribe(topic, on_acknowledged=outcomes.append)
        assert reader.subscription() == {topic}
        seen = []
        for record in reader:
            seen.append(int(record.value or b""))
            if len(seen) == 1:
                reader.reject(record)
            elif len(seen) == 2:
                reader.release([record])
            elif len(seen) == 10:
                break
        assert seen == list(range(10))
        reader.commit_nowait()
        (reader.commit(timeout=TIMEOUT_S)).all()
        assert sum(len(each.offsets) for each in outcomes) == 10
        assert reader.metrics()["acknowledgements-total"] == 10
        assert values(reader.poll(TIMEOUT_S, 5)) == list(range(10, 15))
    with sync.ShareConsumer(bootstrap_servers=broker.bootstrap, group_id=name) as reader:
        reader.subscribe(topic)
        found: list[SharedRecord] = []
        while len(found) < RECORDS - 14:
            found += reader.poll(TIMEOUT_S)
        assert values(found) == [1, *range(15, RECORDS)]
