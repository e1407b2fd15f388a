"""Compares the pipeline's output with a plain computation over the flights."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

from ottla.cli.demo.flights import PARTITIONS, Rows
from ottla.client.administration.admin import Admin
from ottla.client.administration.offsets import OffsetSpec
from ottla.client.consuming.consumer import Consumer
from ottla.model import TopicPartition

TOPIC: Final = "punctuality"
WAIT_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.5


class PunctualityGroup(NamedTuple):
    """The columns by which the pipeline groups flights."""

    origin: str
    manufacturer: str
    day: str


class Totals(NamedTuple):
    flights: int
    delay: int


def manufacturers(planes: Rows) -> dict[str, str]:
    return {plane["tailnum"]: plane["manufacturer"] for plane in planes}


def plain_counts(flights: Rows, planes: Rows) -> dict[PunctualityGroup, Totals]:
    makers = manufacturers(planes)
    found: dict[PunctualityGroup, Totals] = {}
    for flight in flights:
        maker = makers.get(flight["tailnum"], "unknown")
        group = PunctualityGroup(flight["origin"], maker, flight["scheduled"][:10])
        so_far = found.get(group, Totals(0, 0))
        found[group] = Totals(so_far.flights + 1, so_far.delay + flight["delay"])
    return found


def streamed_counts(bootstrap: str) -> tuple[dict[PunctualityGroup, Totals], int]:
    """The last committed record of each group in the topic, and the number of committed records.
    Asserts that no update is repeated: a group's flights grow from one record to the next."""
    found: dict[PunctualityGroup, Totals] = {}
    words = 0
    for value in asyncio.run(_committed(bootstrap, TOPIC)):
        row = json.loads(value)
        group = PunctualityGroup(row["origin"], row["manufacturer"], row["day"][:10])
        assert row["flights"] > found.get(group, Totals(0, 0)).flights, (
            "a later update does not increase the count"
        )
        found[group] = Totals(row["flights"], row["delay"])
        words += 1
    return found, words


def table_rows(path: Path) -> Any:
    """The Delta table as an Arrow table."""
    from deltalake import DeltaTable

    return DeltaTable(str(path)).to_pyarrow_table()


def check_each_once(table: Any, flights: Rows, planes: Rows) -> None:
    """Asserts that every flight has exactly one row, with its plane."""
    makers = manufacturers(planes)
    names = ("carrier", "flight", "tailnum", "origin", "delay", "manufacturer")
    columns = [table[name].to_pylist() for name in names]
    moments = [moment.isoformat() for moment in table["scheduled"].to_pylist()]
    expected = Counter(
        (
            *(flight[name] for name in names[:-1]),
            makers.get(flight["tailnum"], "unknown"),
            flight["scheduled"],
        )
        for flight in flights
    )
    assert Counter(zip(*columns, moments, strict=True)) == expected, (
        "rows are missing or duplicated"
    )


async def _committed(bootstrap: str, topic: str) -> list[bytes]:
    """The values of committed records up to the present end. Waits for transactions that are
    ending."""
    found: list[bytes] = []
    left = await _ends(bootstrap, topic)
    async with Consumer(bootstrap_servers=bootstrap, isolation_level="read_committed") as consumer:
        consumer.assign(left)
        consumer.seek_to_beginning()
        waited = 0.0
        while left:
            records = await consumer.poll(_POLL_SECONDS)
            found += [record.value or b"" for record in records]
            waited = 0.0 if records else waited + _POLL_SECONDS
            # Behind the last record are the markers of transactions.
            left = {name: end for name, end in left.items() if await consumer.position(name) < end}
            assert waited < WAIT_SECONDS, (
                f"no more records arrived, but {topic} has unread records in partitions {left}"
            )
    return found


async def _ends(bootstrap: str, topic: str) -> dict[TopicPartition, int]:
    """The end offsets of the partitions that are not empty, open transactions included."""
    names = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    async with Admin(bootstrap_servers=bootstrap) as admin:
        latest = (await admin.list_offsets(dict.fromkeys(names, OffsetSpec.LATEST))).all()
    return {name: each.offset for name, each in latest.items() if each is not None and each.offset}
