"""A group of a hundred members over a thousand partitions, as the defaults are."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.support.light_members.group import LightGroup
from tests.support.nodes.nodes import running_node

TOPIC = "large"
MEMBERS = 100
PARTITIONS = 1_000
FORMED_SECONDS_MAX = 5.0
TIMEOUT_S = 60.0


@pytest.mark.parametrize("protocol", ["consumer", "classic"])
def test_it_forms_in_time_and_loses_a_member_without_stopping_the_others(
    tmp_path: Path, protocol: str
) -> None:
    with running_node(tmp_path) as node:
        admin = AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS)])[TOPIC].result()
        asyncio.run(_form_and_lose_one(node.bootstrap, protocol))


async def _form_and_lose_one(bootstrap: str, protocol: str) -> None:
    async with LightGroup(
        bootstrap,
        TOPIC,
        TOPIC,
        protocol=protocol,
        member_count=MEMBERS,
        partition_count=PARTITIONS,
    ) as group:
        group.join()
        formed_s = await group.wait_spread(timeout_s=TIMEOUT_S)
        for member in group.members:
            member.taken_count = 0
        await group.lose(group.members[MEMBERS // 2])
        whole_s = await group.wait_spread(timeout_s=TIMEOUT_S)
        assert [member.taken_count for member in group.members] == [0] * (MEMBERS - 1)
    load = os.getloadavg()[0]
    print(
        f"\n{protocol}: formed in {formed_s:.2f} s, whole after {whole_s:.2f} s (load {load:.1f})"
    )
    assert formed_s < FORMED_SECONDS_MAX
