"""Compares the pipeline's output with a plain computation over the flights."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer, IsolationLevel, KafkaError, Message, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from ottla.cli.demo.flights import PARTITIONS, Rows

TOPIC: Final = "punctuality"
WAIT_SECONDS: Final = 30.0
_BATCH: Final = 10_000


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
    for message in _committed(bootstrap, TOPIC):
        row = json.loads(message.value() or b"")
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


def _committed(bootstrap: str, topic: str) -> Iterator[Message]:
    """Yields committed records up to the present end. Waits for transactions that are ending."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "demo",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "log_level": 0,
        }
    )
    left = _ends(bootstrap, topic)
    consumer.assign([TopicPartition(topic, partition, 0) for partition in left])
    while left:
        messages = consumer.consume(_BATCH, timeout=WAIT_SECONDS)
        assert messages, (
            f"no more records arrived, but {topic} has unread records in partitions {left}"
        )
        for message in messages:
            error = message.error()
            if error is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its name
                partition, offset = message.partition(), message.offset()
                assert partition is not None
                assert offset is not None
                if offset >= left.get(partition, 0):
                    left.pop(partition, None)
            else:
                raise AssertionError(error)
    consumer.close()


def _ends(bootstrap: str, topic: str) -> dict[int, int]:
    """The end offsets of the partitions that are not empty, open transactions included."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    end = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    latest = {TopicPartition(topic, number): end for number in range(PARTITIONS)}
    answers = admin.list_offsets(latest, isolation_level=IsolationLevel.READ_UNCOMMITTED)
    return {place.partition: answer.result().offset for place, answer in answers.items()}
