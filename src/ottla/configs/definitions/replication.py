"""Replication and leader election."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import CLUSTER_WIDE, HIGH, INTERNAL, boolean, int32, int64, string
from ottla.configs.status import WITHOUT_EFFECT
from ottla.configs.validators import at_least

REPLICATION_CONFIGS: Final = (
    boolean("auto.leader.rebalance.enable", True, HIGH),
    int32("controller.socket.timeout.ms", 30_000, WITHOUT_EFFECT),
    int32("default.replication.factor", 1),
    int32("delete.records.purgatory.purge.interval.requests", 1, WITHOUT_EFFECT),
    int32("fetch.purgatory.purge.interval.requests", 1000, WITHOUT_EFFECT),
    boolean("follower.fetch.last.tiered.offset.enable", False, CLUSTER_WIDE, WITHOUT_EFFECT),
    int64("leader.imbalance.check.interval.seconds", 300, at_least(1), HIGH),
    int32("num.replica.fetchers", 1, at_least(1), HIGH, CLUSTER_WIDE, WITHOUT_EFFECT),
    int32("producer.purgatory.purge.interval.requests", 1000, WITHOUT_EFFECT),
    int32("replica.fetch.backoff.ms", 1000, at_least(0)),
    int32("replica.fetch.max.bytes", 1_048_576, at_least(0)),
    int32("replica.fetch.min.bytes", 1, HIGH),
    int32("replica.fetch.response.max.bytes", 10_485_760, at_least(0)),
    int32("replica.fetch.wait.max.ms", 500, HIGH),
    int64("replica.high.watermark.checkpoint.interval.ms", 5000, HIGH, WITHOUT_EFFECT),
    int64("replica.lag.time.max.ms", 30_000, HIGH),
    string("replica.selector.class", None),
    int32("replica.socket.receive.buffer.bytes", 65_536, HIGH, WITHOUT_EFFECT),
    int32("replica.socket.timeout.ms", 30_000, HIGH),
    boolean("unclean.leader.election.enable", False, HIGH, CLUSTER_WIDE),
    int64("unclean.leader.election.interval.ms", 300_000, at_least(1), INTERNAL),
)
