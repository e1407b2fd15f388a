"""Members of groups, of both protocols: alone, together, and with the members of other clients."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import Any

import pytest

from ottla.client import Consumer, TopicPartition
from ottla.client.errors import CommitFailedError, FencedInstanceIdError, UnreleasedInstanceIdError
from tests.conformance.client.conftest import BrokerUnderTest
from tests.conformance.client.consumers import (
    PROTOCOLS,
    consumer,
    numbers,
    poll_until,
    read,
    run,
    wait_until,
)

PARTITIONS = 6
RECORDS = 60
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


def member(broker: BrokerUnderTest, group: str, protocol: str, **properties: Any) -> Consumer:
    return consumer(broker.bootstrap, group_id=group, group_protocol=protocol, **properties)


def share(*readers: Consumer) -> list[int]:
    return [len(reader.assignment()) for reader in readers]


@every_protocol
def test_a_group_goes_on_where_it_committed(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name, PARTITIONS)
    broker.fill(topic, RECORDS, partitions=PARTITIONS)

    async def scenario() -> None:
        # Committed by hand.
        async with member(broker, name, protocol, enable_auto_commit=False) as reader:
            await reader.subscribe([topic])
            assert numbers(await read(reader, RECORDS)) == list(range(RECORDS))
            half = dict.fromkeys(reader.assignment(), RECORDS // PARTITIONS // 2)
            await reader.commit(half)
        # Committed when it closes.
        async with member(broker, name, protocol) as reader:
            await reader.subscribe([topic])
            assert len(await read(reader, RECORDS // 2)) == RECORDS // 2
        async with member(broker, name, protocol) as reader:
            await reader.subscribe([topic])
            assert await poll_until(lambda: share(reader) == [PARTITIONS], reader) == []
            for each in reader.assignment():
                assert await reader.position(each) == RECORDS // PARTITIONS

    run(scenario())


@every_protocol
def test_positions_are_committed_by_time_and_never_go_back(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name)
    broker.fill(topic, RECORDS)
    only = TopicPartition(topic, 0)

    async def scenario() -> None:
        settings = {"auto_commit_interval_ms": 20, "max_poll_records": 5}
        async with (
            member(broker, name, protocol, **settings) as reader,
            consumer(broker.bootstrap, group_id=name) as watcher,
        ):
            await reader.subscribe([topic])
            before, taken = 0, 0
            while before < RECORDS:
                taken += len(await reader.poll(0.05))
                found = (await watcher.committed([only]))[only]
                offset = 0 if found is None else found.offset
                assert before <= offset <= taken, "only what was handed out before the last poll"
                before = offset

    run(scenario())


@every_protocol
def test_members_come_and_go_and_every_record_is_read_once(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    """Under load: partitions are committed when they are given up, so nothing is read twice."""
    topic = broker.create_topic(name, PARTITIONS)
    sent = 0
    seen: Counter[int] = Counter()

    async def scenario() -> None:
        nonlocal sent

        async def produce() -> None:
            nonlocal sent
            producer = broker.producer(linger_ms=1)
            while not is_over:
                for _ in range(20):
                    producer.produce(topic, b"%d" % sent, partition=sent % PARTITIONS)
                    sent += 1
                await asyncio.to_thread(producer.flush)

        async def read_on(reader: Consumer) -> None:
            while not is_over or len(seen) < sent:
                if reader in gone:
                    return
                records = await reader.poll(0.1)
                seen.update(int(each.value or b"") for each in records)

        is_over = False
        gone: set[Consumer] = set()
        strategy = {"partition_assignment_strategy": "cooperative-sticky"}
        readers = [member(broker, name, protocol, **strategy) for _ in range(3)]
        tasks = [asyncio.ensure_future(produce())]
        for reader in readers:
            await reader.subscribe([topic])
            tasks.append(asyncio.ensure_future(read_on(reader)))
            await settled(readers[: readers.index(reader) + 1])
        first, *others = readers
        gone.add(first)
        await tasks[1]
        await first.close()
        await settled(others)
        is_over = True
        await asyncio.gather(*tasks)
        for reader in others:
            await reader.close()

    async def settled(readers: list[Consumer]) -> None:
        """Until they share the partitions evenly, and have read more since."""
        count = PARTITIONS // len(readers)
        await wait_until(lambda: share(*readers) == [count] * len(readers))
        before = len(seen)
        await wait_until(lambda: len(seen) >= before + 50)

    run(scenario())
    assert sorted(seen) == list(range(sent))
    assert set(seen.values()) == {1}, [each for each, times in seen.items() if times > 1]


@every_protocol
def test_callbacks_see_every_change_and_may_commit_and_seek(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name, 2)
    broker.fill(topic, 40, partitions=2)
    owned: set[TopicPartition] = set()
    calls: list[str] = []

    async def scenario() -> None:
        async def assigned(partitions: frozenset[TopicPartition]) -> None:
            assert not owned & partitions
            owned.update(partitions)
            calls.append("assigned")
            for each in partitions:
                reader.seek(each, 15)

        async def revoked(partitions: frozenset[TopicPartition]) -> None:
            assert partitions <= owned
            owned.difference_update(partitions)
            calls.append("revoked")
            await reader.commit(dict.fromkeys(partitions, 17))

        async with member(broker, name, protocol, enable_auto_commit=False) as reader:
            await reader.subscribe([topic], on_assigned=assigned, on_revoked=revoked)
            found = await read(reader, 10)
            assert {each.offset for each in found} == {15, 16, 17, 18, 19}
            assert owned == reader.assignment()
        assert calls == ["assigned", "revoked"]
        async with consumer(broker.bootstrap, group_id=name) as watcher:
            partitions = [TopicPartition(topic, index) for index in range(2)]
            committed = await watcher.committed(partitions)
            assert [each and each.offset for each in committed.values()] == [17, 17]

    run(scenario())


def test_a_cooperative_member_keeps_reading_what_it_keeps(
    broker: BrokerUnderTest, name: str
) -> None:
    topic = broker.create_topic(name, 4)
    revoked: list[frozenset[TopicPartition]] = []
    cooperative = {"partition_assignment_strategy": "cooperative-sticky"}

    async def scenario() -> None:
        async with (
            member(broker, name, "classic", **cooperative) as first,
            member(broker, name, "classic", **cooperative) as second,
        ):
            await first.subscribe([topic], on_revoked=revoked.append)
            await poll_until(lambda: share(first) == [4], first)
            before = first.assignment()
            await second.subscribe([topic])
            await poll_until(lambda: share(first, second) == [2, 2], first, second)
            assert [len(each) for each in revoked] == [2], "only what moves is revoked"
            assert first.assignment() < before

    run(scenario())


@every_protocol
def test_a_static_member_comes_back_without_a_rebalance(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name, 4)

    async def scenario() -> None:
        changes: list[object] = []
        async with member(broker, name, protocol, group_instance_id="other") as other:
            await other.subscribe([topic], on_assigned=changes.append, on_revoked=changes.append)
            for _ in range(2):
                async with member(broker, name, protocol, group_instance_id="mine") as mine:
                    await mine.subscribe([topic])
                    await poll_until(lambda: share(mine, other) == [2, 2], mine, other)
                    before, seen = mine.assignment(), len(changes)
            async with member(broker, name, protocol, group_instance_id="mine") as mine:
                await mine.subscribe([topic])
                await poll_until(lambda: share(mine) == [2], mine, other)
                assert mine.assignment() == before
                assert len(changes) == seen, "the other member was left alone"

    run(scenario())


@every_protocol
def test_two_members_under_one_instance_id_are_refused(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name)

    async def scenario() -> None:
        async with (
            member(broker, name, protocol, group_instance_id="i") as first,
            member(broker, name, protocol, group_instance_id="i") as second,
        ):
            await first.subscribe([topic])
            await poll_until(lambda: share(first) == [1], first)
            await second.subscribe([topic])
            with pytest.raises((FencedInstanceIdError, UnreleasedInstanceIdError)):
                await poll_until(lambda: False, first, second)

    run(scenario())


@every_protocol
def test_a_member_that_does_not_poll_leaves_and_hears_of_it(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name, 2)
    broker.fill(topic, 10, partitions=2)
    lost: list[frozenset[TopicPartition]] = []

    async def scenario() -> None:
        async with (
            member(broker, name, protocol, max_poll_interval_ms=1_000) as slow,
            member(broker, name, protocol) as other,
        ):
            await slow.subscribe([topic], on_lost=lost.append)
            assert len(await read(slow, 10)) == 10
            both = slow.assignment()
            await other.subscribe([topic])
            # The slow one does not poll, and has all partitions until the group has enough of it.
            again = await poll_until(lambda: share(other) == [2], other)
            with pytest.raises(CommitFailedError, match=r"no longer a member"):
                await slow.commit(dict.fromkeys(both, 5))
            assert lost == []
            again += await poll_until(lambda: share(slow, other) == [1, 1], slow, other)
            assert lost == [both]
            assert sorted({*numbers(again)}) == list(range(10)), "nothing was committed"

    run(scenario())


@every_protocol
def test_a_pattern_follows_topics_that_are_created(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    prefix = f"p-{protocol}"

    async def scenario() -> None:
        async with member(broker, name, protocol, metadata_max_age_ms=200) as reader:
            broker.create_topic(f"{prefix}-1")
            await reader.subscribe(re.compile(f"{prefix}-[0-9]+"))
            await poll_until(lambda: share(reader) == [1], reader)
            broker.create_topic(f"{prefix}-22", 2)
            broker.create_topic(f"{prefix}-none")
            await poll_until(lambda: share(reader) == [3], reader)
            assert reader.subscription() == {f"{prefix}-1", f"{prefix}-22"}

    run(scenario())


def test_the_coordinator_matches_a_regular_expression(broker: BrokerUnderTest, name: str) -> None:
    async def scenario() -> None:
        async with member(broker, name, "consumer", metadata_max_age_ms=200) as reader:
            topic = broker.create_topic("matched-1", 2)
            broker.fill(topic, 4, partitions=2)
            await reader.subscribe(pattern="matched-[0-9]+")
            assert numbers(await read(reader, 4)) == [0, 1, 2, 3]
            await reader.subscribe([broker.create_topic("named", 3)])
            await poll_until(lambda: share(reader) == [3], reader)
            assert {each.topic for each in reader.assignment()} == {"named"}

    run(scenario())


@every_protocol
def test_added_partitions_and_another_subscription_are_taken_up(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    from confluent_kafka.cimpl import NewPartitions

    first, second = (broker.create_topic(f"{name}-{each}") for each in "ab")

    async def scenario() -> None:
        async with member(broker, name, protocol, metadata_max_age_ms=200) as reader:
            await reader.subscribe([first])
            await poll_until(lambda: share(reader) == [1], reader)
            for done in broker.admin.create_partitions([NewPartitions(first, 3)]).values():
                done.result()
            await poll_until(lambda: share(reader) == [3], reader)
            await reader.subscribe([second])
            await poll_until(
                lambda: {each.topic for each in reader.assignment()} == {second}, reader
            )
            await reader.unsubscribe()
            assert not reader.assignment()
            reader.assign([TopicPartition(first, 0)])
            assert share(reader) == [1]

    run(scenario())
