"""What users write, checked by mypy in strict mode: here with `make check`, and against the
installed wheel by `make release-check`. It names everything that is public, and never runs."""

from __future__ import annotations

from typing import assert_type

import ottla
import ottla.pipeline
import ottla.simulation
import ottla.testing
from ottla import ErrorCode, InvalidConfigError, KafkaError, TopicPartition
from ottla.simulation import (
    Acknowledged,
    DiskFaults,
    Event,
    Failed,
    Fault,
    History,
    Host,
    Noted,
    Operation,
    PowerLost,
    Read,
    Record,
    SeededDice,
    Sent,
    SimulatedAdmin,
    SimulatedCluster,
    SimulatedConsumer,
    SimulatedDisk,
    SimulatedNode,
    SimulatedProducer,
    World,
    start_cluster,
)
from ottla.testing import Cluster

assert_type(ottla.__version__, str)


def refusals() -> ErrorCode | None:
    try:
        with ottla.testing.Cluster(nodes=3, properties={"num.partitions": "6"}) as cluster:
            assert_type(cluster, Cluster)
            cluster.create_topic("orders", partitions=2)
    except InvalidConfigError:
        return None
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


async def story(world: World) -> list[Record]:
    cluster: SimulatedCluster = start_cluster(world, nodes=3)
    admin: SimulatedAdmin = cluster.admin()
    await admin.create_topic("orders")
    producer: SimulatedProducer = cluster.producer()
    assert_type(await producer.send(TopicPartition("orders", 0), b"an apple"), int)
    leader: SimulatedNode = await cluster.wait_leader("orders", 0)
    assert_type(leader.disk.faults, DiskFaults)
    leader.disk.faults.fail("/", Operation.WRITE)
    shop: Host = world.host("shop")
    consumer: SimulatedConsumer = cluster.consumer("orders", 0, host=shop)
    return await consumer.poll()


def history_of(seed: int) -> list[str]:
    world = World(seed=seed)
    assert_type(world.run(story), list[Record])
    history: History = world.history
    found: list[str] = []
    for _, event in history.events:
        assert_type(event, Event)
        match event:
            case Sent() | Acknowledged() | Read():
                found.append(f"{event.partition} {event.value!r}")
            case Fault() | Failed():
                found.append(event.what)
            case Noted():
                found.append(event.text)
    return found


def lost(disk: SimulatedDisk) -> None:
    try:
        disk.crash(SeededDice(7))
    except PowerLost:
        raise


# A name that is not public is an error for type checkers, too: without it, the comment would be.
ottla.testing.Clutser  # type: ignore[attr-defined]  # noqa: B018
ottla.simulation.Wrold  # type: ignore[attr-defined]  # noqa: B018
ottla.pipeline.Topci  # type: ignore[attr-defined]  # noqa: B018
