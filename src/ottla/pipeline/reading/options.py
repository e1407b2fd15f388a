"""The options of `format("ottla")`: the names and defaults of Spark's Kafka connector.

Options with the prefix `kafka.` are client configs; those that a reader does not use are ignored.
Other unknown options are rejected, because a misspelt one would be ignored silently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ottla.client_security.client_security import ClientSecurity
from ottla.model import TopicPartition
from ottla.pipeline.reading.errors import OptionError
from ottla.pipeline.reading.given_options import named_options, one_of, parse_security
from ottla.pipeline.reading.positions import EARLIEST, LATEST, Position, parse_position
from ottla.runtime.network import Address

_KNOWN: Final = (
    "assign",
    "subscribe",
    "subscribePattern",
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "endingOffsets",
    "endingTimestamp",
    "endingOffsetsByTimestamp",
    "failOnDataLoss",
    "includeHeaders",
    "maxOffsetsPerTrigger",
    "minPartitions",
    "maxRecordsPerPartition",
    "kafkaConsumer.pollTimeoutMs",
    # Spark passes the path of `load(path)`.
    "path",
)
_DEFAULT_PORT: Final = 9092
_POLL_TIMEOUT_MS: Final = 120_000
_PARTITION_FETCH_BYTES: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Subscription:
    """The partitions to read. One of the three fields is set."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    assigned: tuple[TopicPartition, ...] = ()

    def wants(self, topic: str) -> bool:
        if self.pattern is not None:
            return re.fullmatch(self.pattern, topic) is not None
        return topic in self.topics or any(each.topic == topic for each in self.assigned)


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Validated options. Spark pickles them for the tasks."""

    bootstrap: tuple[Address, ...]
    security: ClientSecurity
    subscription: Subscription
    starting: Position
    ending: Position
    is_late_timestamp_latest: bool
    fail_on_data_loss: bool
    include_headers: bool
    offsets_per_trigger_max: int | None
    partitions_min: int | None
    records_per_partition_max: int | None
    poll_timeout_ms: int
    read_committed: bool
    partition_fetch_bytes: int
    client_id: str
    # The consumer group to which a stream commits its progress.
    group_id: str | None


def parse_options(options: Mapping[str, str], *, is_streaming: bool) -> SourceOptions:
    """Raises OptionError, whose message says how to correct the options."""
    given = named_options(options, _KNOWN, of="source")
    if is_streaming:
        for name in given:
            if name.startswith("ending"):
                raise OptionError(f"{name} is for batch reads; a stream has no end")
    return SourceOptions(
        bootstrap=parse_bootstrap(given.get("kafka.bootstrap.servers")),
        security=parse_security(given),
        subscription=_subscription(given),
        starting=parse_position(given, "starting", default=LATEST if is_streaming else EARLIEST),
        ending=parse_position(given, "ending", default=LATEST),
        is_late_timestamp_latest=one_of(
            given, "startingOffsetsByTimestampStrategy", ("error", "latest")
        )
        == "latest",
        fail_on_data_loss=_flag(given, "failOnDataLoss", default=True),
        include_headers=_flag(given, "includeHeaders", default=False),
        offsets_per_trigger_max=_count(given, "maxOffsetsPerTrigger"),
        partitions_min=_count(given, "minPartitions"),
        records_per_partition_max=_count(given, "maxRecordsPerPartition"),
        poll_timeout_ms=_count(given, "kafkaConsumer.pollTimeoutMs") or _POLL_TIMEOUT_MS,
        read_committed=one_of(
            given, "kafka.isolation.level", ("read_committed", "read_uncommitted")
        )
        == "read_committed",
        partition_fetch_bytes=_count(given, "kafka.max.partition.fetch.bytes")
        or _PARTITION_FETCH_BYTES,
        client_id=given.get("kafka.client.id", "ottla-spark"),
        group_id=given.get("kafka.group.id") or None,
    )


def parse_bootstrap(text: str | None) -> tuple[Address, ...]:
    """Raises OptionError."""
    if not text:
        raise OptionError("kafka.bootstrap.servers is missing; set it to the HOST:PORT of a broker")
    addresses = []
    for each in text.split(","):
        host, colon, port = each.strip().rpartition(":")
        if colon and not port.isdigit():
            raise OptionError(f"kafka.bootstrap.servers has {each.strip()!r}; write HOST:PORT")
        addresses.append(
            Address(host.strip("[]"), int(port)) if colon else Address(port, _DEFAULT_PORT)
        )
    return tuple(addresses)


def _subscription(given: Mapping[str, str]) -> Subscription:
    ways = [name for name in ("assign", "subscribe", "subscribePattern") if name in given]
    if len(ways) != 1:
        raise OptionError(
            "set exactly one of subscribe, subscribePattern and assign; "
            + (f"given are {' and '.join(ways)}" if ways else "none is given")
        )
    text = given[ways[0]].strip()
    if not text:
        raise OptionError(f"{ways[0]} is empty; name at least one topic")
    if ways[0] == "subscribe":
        topics = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
        return Subscription(topics=topics)
    if ways[0] == "subscribePattern":
        try:
            re.compile(text)
        except re.error as error:
            raise OptionError(
                f"subscribePattern {text!r} is not a valid regular expression: {error}"
            ) from None
        return Subscription(pattern=text)
    return Subscription(assigned=_assigned(text))


def _assigned(text: str) -> tuple[TopicPartition, ...]:
    try:
        return tuple(
            TopicPartition(topic, int(partition))
            for topic, partitions in json.loads(text).items()
            for partition in partitions
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise OptionError(f'assign is {text!r}; write it as {{"topic": [0, 1]}}') from error


def _flag(given: Mapping[str, str], name: str, *, default: bool) -> bool:
    return one_of(given, name, ("true", "false") if default else ("false", "true")) == "true"


def _count(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name)
    if text is None:
        return None
    if not text.strip().isdigit() or int(text) < 1:
        raise OptionError(f"{name} is {text!r}; it must be a number above zero")
    return int(text)
