"""The properties of a share consumer, by Kafka's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ottla.client.errors import ConfigError
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

# The acquire modes of ShareFetch (KIP-1206).
_ACQUIRE_MODES: Final = {"batch_optimized": 0, "record_limit": 1}
_EXPLICIT: Final = "explicit"

SHARE_CONSUMER: Final = {
    **COMMON,
    **table(
        ClientProperty("group.id", text, None, "share group to join"),
        ClientProperty(
            "share.acknowledgement.mode",
            one_of("implicit", _EXPLICIT),
            "implicit",
            "implicit: the next poll accepts what the last one returned; explicit: only calls of "
            "accept, release and reject acknowledge",
        ),
        ClientProperty(
            "share.acquire.mode",
            one_of(*_ACQUIRE_MODES),
            "batch_optimized",
            "batch_optimized: whole batches are locked; record_limit: never more records than "
            "max.poll.records",
        ),
        ClientProperty(
            "max.poll.records", number(low=1), 500, "most records that one poll returns"
        ),
        ClientProperty(
            "max.poll.interval.ms",
            number(low=1),
            300_000,
            "longest time between two polls before the member leaves its group",
        ),
        ClientProperty("fetch.min.bytes", number(), 1, "bytes that a broker waits for"),
        ClientProperty(
            "fetch.max.wait.ms", number(), 500, "longest time that a broker waits for them"
        ),
        ClientProperty("fetch.max.bytes", number(low=1), 52_428_800, "most bytes in one response"),
        ClientProperty("check.crcs", boolean, True, "whether checksums of batches are verified"),
        ClientProperty("client.rack", text, "", "rack of this client"),
        ClientProperty(
            "allow.auto.create.topics", boolean, True, "whether brokers may create missing topics"
        ),
        ClientProperty(
            "default.api.timeout.ms",
            number(),
            60_000,
            "time for calls without a timeout of their own",
        ),
    ),
}


class ShareConsumerProperties(CommonProperties, total=False):
    """The keywords of a share consumer."""

    group_id: str | None
    share_acknowledgement_mode: str
    share_acquire_mode: str
    max_poll_records: int
    max_poll_interval_ms: int
    fetch_min_bytes: int
    fetch_max_wait_ms: int
    fetch_max_bytes: int
    check_crcs: bool
    client_rack: str
    allow_auto_create_topics: bool
    default_api_timeout_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareConsumerSettings:
    """The same as typed values."""

    cluster: ClusterSettings
    group_id: str
    is_explicit: bool = False
    acquire_mode: int = 0
    max_poll_records: int = 500
    max_poll_interval_ms: int = 300_000
    fetch_min_bytes: int = 1
    fetch_wait_ms_max: int = 500
    fetch_bytes_max: int = 52_428_800
    checks_crcs: bool = True
    rack: str = ""
    api_timeout_ms: int = 60_000

    @property
    def is_strict(self) -> bool:
        """Whether no more records than `max_poll_records` are locked at a time."""
        return self.acquire_mode == _ACQUIRE_MODES["record_limit"]


def share_consumer_settings(parsed: ParsedProperties) -> ShareConsumerSettings:
    """Raises ConfigError."""
    values = parsed.values
    if not values["group.id"]:
        raise ConfigError("a share consumer needs a group.id.")
    return ShareConsumerSettings(
        cluster=cluster_settings(
            values, parsed.security, creates_topics=values["allow.auto.create.topics"]
        ),
        group_id=values["group.id"],
        is_explicit=values["share.acknowledgement.mode"] == _EXPLICIT,
        acquire_mode=_ACQUIRE_MODES[values["share.acquire.mode"]],
        max_poll_records=values["max.poll.records"],
        max_poll_interval_ms=values["max.poll.interval.ms"],
        fetch_min_bytes=values["fetch.min.bytes"],
        fetch_wait_ms_max=values["fetch.max.wait.ms"],
        fetch_bytes_max=values["fetch.max.bytes"],
        checks_crcs=values["check.crcs"],
        rack=values["client.rack"],
        api_timeout_ms=values["default.api.timeout.ms"],
    )
