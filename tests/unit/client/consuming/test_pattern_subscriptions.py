"""What a subscription to a pattern leaves behind."""

from __future__ import annotations

import asyncio
import re

from ottla.client import Consumer
from ottla.runtime.system_clock import SystemClock


def refreshing() -> int:
    return [task.get_name() for task in asyncio.all_tasks()].count("topics of the pattern")


def test_only_the_last_pattern_keeps_the_topics_fresh() -> None:
    async def scenario() -> None:
        consumer = Consumer(bootstrap_servers="127.0.0.1:1", group_id="g")
        for pattern in ("a.*", "b.*", "c.*"):
            await consumer.subscribe(re.compile(pattern))
            await SystemClock().sleep(0)
        await SystemClock().sleep(0)
        assert refreshing() == 1
        await consumer.subscribe(["t"])
        await SystemClock().sleep(0)
        assert refreshing() == 0
        await consumer.close(timeout=0.1)

    asyncio.run(scenario())
