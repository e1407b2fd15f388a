"""A share group on a topic with delayed delivery: records are delivered when they are due."""

from __future__ import annotations

import asyncio

from confluent_kafka.admin import AdminClient

from ottla.client import Admin, ShareConsumer
from ottla.client.administration import ConfigResource, ConfigResourceType
from ottla.runtime.system_clock import SystemClock
from tests.conformance.clients import TIMEOUT_S, Client, Message
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

_HELD = 300
_DUE = 5


def test_a_share_group_gets_what_is_due_once(
    node: RunningNode, admin: AdminClient, topics: Topics, writer: Client
) -> None:
    del admin
    topic = topics.create(ottla_delivery_delay_enable="true")
    now_ms = SystemClock().now_ms()
    later = (("ottla-deliver-at", b"%d" % (now_ms + 3_600_000)),)
    soon = (("ottla-deliver-at", b"%d" % (now_ms + 500)),)
    writer.produce(topic, [Message(b"held", headers=later) for _ in range(_HELD)])
    writer.produce(topic, [Message(b"%d" % at, headers=soon) for at in range(_DUE)])

    assert asyncio.run(_shared(node.bootstrap, topic)) == [b"%d" % at for at in range(_DUE)]


async def _shared(bootstrap: str, topic: str) -> list[bytes | None]:
    group, clock = f"{topic}-sharers", SystemClock()
    resource = ConfigResource(ConfigResourceType.GROUP, group)
    async with Admin(bootstrap_servers=bootstrap) as admin:
        (await admin.alter_configs({resource: {"share.auto.offset.reset": "earliest"}})).all()
    values: list[bytes | None] = []
    async with ShareConsumer(bootstrap_servers=bootstrap, group_id=group) as consumer:
        await consumer.subscribe([topic])
        ends_at = clock.monotonic() + TIMEOUT_S
        while len(values) < _DUE and clock.monotonic() < ends_at:
            values += [record.value for record in await consumer.poll(1.0)]
        # What is held takes no locks and is not delivered afterwards.
        values += [record.value for record in await consumer.poll(0.5)]
    return values
