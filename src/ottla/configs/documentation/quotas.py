"""What the broker configs mean: quotas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

QUOTAS_TEXTS: Final[Mapping[str, str]] = {
    "alter.log.dirs.replication.quota.window.num": (
        "Number of samples from which the rate of moves between log directories is computed."
    ),
    "alter.log.dirs.replication.quota.window.size.seconds": (
        "Length of each sample from which the rate of moves between log directories is "
        "computed, in seconds."
    ),
    "client.quota.callback.class": (
        "Java class that computes the quotas of clients (`ClientQuotaCallback`)."
    ),
    "controller.quota.window.num": (
        "Number of samples from which the rate of changes to topics is computed."
    ),
    "controller.quota.window.size.seconds": (
        "Length of each sample from which the rate of changes to topics is computed, in seconds."
    ),
    "follower.replication.throttled.rate": (
        "Highest rate at which this broker fetches as a follower, in bytes per second, over the "
        "replicas in follower.replication.throttled.replicas of the topics (KIP-73)."
    ),
    "leader.replication.throttled.rate": (
        "Highest rate at which this broker sends to followers as a leader, in bytes per second, "
        "over the replicas in leader.replication.throttled.replicas of the topics (KIP-73)."
    ),
    "quota.window.num": "Number of samples from which the rates of clients are computed.",
    "quota.window.size.seconds": (
        "Length of each sample from which the rates of clients are computed, in seconds."
    ),
    "replica.alter.log.dirs.io.max.bytes.per.second": (
        "Highest rate at which this broker moves replicas between its log directories, in bytes "
        "per second."
    ),
    "replication.quota.window.num": (
        "Number of samples from which the rate of throttled replication is computed."
    ),
    "replication.quota.window.size.seconds": (
        "Length of each sample from which the rate of throttled replication is computed, in "
        "seconds."
    ),
}
