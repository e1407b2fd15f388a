"""The properties of a consumer, by Kafka's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ottla.client.consuming.offset_reset import LATEST, OffsetReset, offset_reset
from ottla.client.errors import ConfigError
from ottla.client.groups.assignors import ASSIGNORS, COOPERATIVE_STICKY, RANGE, assignors
from ottla.client.groups.member_settings import MemberSettings
from ottla.client.settings import (
    COMMON,
    ClientProperty,
    ClusterSettings,
    CommonProperties,
    ParsedProperties,
    boolean,
    cluster_settings,
    number,
    one_of,
    table,
    text,
)

READ_UNCOMMITTED: Final = 0
READ_COMMITTED: Final = 1

CONSUMER: Final = {
    **COMMON,
    **table(
        ClientProperty("group.id", text, None, "group whose offsets are committed, and to join"),
        ClientProperty(
            "group.instance.id",
            text,
            None,
            "makes the member static: it keeps its place when it restarts",
        ),
        ClientProperty(
            "group.protocol",
            one_of("classic", "consumer"),
            "classic",
            "classic, or consumer (KIP-848), with which the coordinator assigns",
        ),
        ClientProperty(
            "group.remote.assignor", text, None, "the coordinator's assignor: uniform or range"
        ),
        ClientProperty(
            "partition.assignment.strategy",
            assignors,
            (ASSIGNORS[RANGE], ASSIGNORS[COOPERATIVE_STICKY]),
            "range, roundrobin and cooperative-sticky, the preferred one first (classic protocol)",
        ),
        ClientProperty(
            "session.timeout.ms",
            number(low=1),
            45_000,
            "time without heartbeats after which a member is removed (classic protocol)",
        ),
        ClientProperty(
            "heartbeat.interval.ms",
            number(low=1),
            3_000,
            "time between heartbeats (classic protocol)",
        ),
        ClientProperty(
            "max.poll.interval.ms",
            number(low=1),
            300_000,
            "longest time between two polls before the member leaves its group",
        ),
        ClientProperty(
            "max.poll.records", number(low=1), 500, "most records that one poll returns"
        ),
        ClientProperty(
            "enable.auto.commit", boolean, True, "whether positions are committed by time"
        ),
        ClientProperty("auto.commit.interval.ms", number(), 5_000, "time between these commits"),
        ClientProperty(
            "auto.offset.reset",
            offset_reset,
            LATEST,
            "where to start without an offset: earliest, latest, none or by_duration:PnDTnHnMnS",
        ),
        ClientProperty(
            "isolation.level",
            one_of("read_uncommitted", "read_committed"),
            "read_uncommitted",
            "whether records of open and aborted transactions are returned",
        ),
        ClientProperty("fetch.min.bytes", number(), 1, "bytes that a broker waits for"),
        ClientProperty(
            "fetch.max.wait.ms", number(), 500, "longest time that a broker waits for them"
        ),
        ClientProperty("fetch.max.bytes", number(), 52_428_800, "most bytes in one response"),
        ClientProperty(
            "max.partition.fetch.bytes", number(), 1_048_576, "most bytes of one partition in it"
        ),
        ClientProperty(
            "prefetch.max.bytes",
            number(low=1),
            67_108_864,
            "most bytes that are fetched ahead of the application (only Ottla's client)",
        ),
        ClientProperty("check.crcs", boolean, True, "whether checksums of batches are verified"),
        ClientProperty(
            "client.rack", text, "", "rack of this client, to fetch from a near replica"
        ),
        ClientProperty(
            "allow.auto.create.topics", boolean, True, "whether brokers may create missing topics"
        ),
        ClientProperty(
            "exclude.internal.topics", boolean, True, "whether patterns never match internal topics"
        ),
        ClientProperty(
            "default.api.timeout.ms",
            number(),
            60_000,
            "time for calls without a timeout of their own",
        ),
    ),
}


class ConsumerProperties(CommonProperties, total=False):
    """The keywords of a consumer."""

    group_id: str | None
    group_instance_id: str | None
    group_protocol: str
    group_remote_assignor: str | None
    partition_assignment_strategy: str | Sequence[str]
    session_timeout_ms: int
    heartbeat_interval_ms: int
    max_poll_interval_ms: int
    max_poll_records: int
    enable_auto_commit: bool
    auto_commit_interval_ms: int
    auto_offset_reset: str
    isolation_level: str
    fetch_min_bytes: int
    fetch_max_wait_ms: int
    fetch_max_bytes: int
    max_partition_fetch_bytes: int
    prefetch_max_bytes: int
    check_crcs: bool
    client_rack: str
    allow_auto_create_topics: bool
    exclude_internal_topics: bool
    default_api_timeout_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings:
    """The same as typed values."""

    cluster: ClusterSettings
    member: MemberSettings | None
    is_consumer_protocol: bool
    max_poll_records: int
    auto_commit_interval_ms: int | None
    reset: OffsetReset
    isolation: int
    fetch_min_bytes: int
    fetch_wait_ms_max: int
    fetch_bytes_max: int
    partition_bytes_max: int
    prefetch_bytes_max: int
    checks_crcs: bool
    rack: str
    excludes_internal: bool
    api_timeout_ms: int


def consumer_settings(parsed: ParsedProperties) -> ConsumerSettings:
    """Raises ConfigError."""
    values = parsed.values
    group_id = values["group.id"]
    if group_id == "":
        raise ConfigError("group.id is empty.", "Leave it out to read without a group.")
    if "enable.auto.commit" in parsed.given and values["enable.auto.commit"] and group_id is None:
        raise ConfigError("enable.auto.commit needs a group.id.")
    if values["heartbeat.interval.ms"] >= values["session.timeout.ms"]:
        raise ConfigError("heartbeat.interval.ms must be below session.timeout.ms.")
    commits = values["enable.auto.commit"] and group_id is not None
    return ConsumerSettings(
        cluster=cluster_settings(
            values, parsed.security, creates_topics=values["allow.auto.create.topics"]
        ),
        member=None if group_id is None else _member(values),
        is_consumer_protocol=values["group.protocol"] == "consumer",
        max_poll_records=values["max.poll.records"],
        auto_commit_interval_ms=values["auto.commit.interval.ms"] if commits else None,
        reset=values["auto.offset.reset"],
        isolation=READ_COMMITTED
        if values["isolation.level"] == "read_committed"
        else READ_UNCOMMITTED,
        fetch_min_bytes=values["fetch.min.bytes"],
        fetch_wait_ms_max=values["fetch.max.wait.ms"],
        fetch_bytes_max=values["fetch.max.bytes"],
        partition_bytes_max=values["max.partition.fetch.bytes"],
        prefetch_bytes_max=values["prefetch.max.bytes"],
        checks_crcs=values["check.crcs"],
        rack=values["client.rack"],
        excludes_internal=values["exclude.internal.topics"],
        api_timeout_ms=values["default.api.timeout.ms"],
    )


def _member(values: Any) -> MemberSettings:
    return MemberSettings(
        group_id=values["group.id"],
        instance_id=values["group.instance.id"],
        rack_id=values["client.rack"] or None,
        max_poll_interval_ms=values["max.poll.interval.ms"],
        session_timeout_ms=values["session.timeout.ms"],
        heartbeat_interval_ms=values["heartbeat.interval.ms"],
        assignors=values["partition.assignment.strategy"],
        remote_assignor=values["group.remote.assignor"],
    )
