"""Tiered storage (KIP-405)."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    CLUSTER_WIDE,
    INTERNAL,
    LONG_MAX,
    LOW,
    boolean,
    double,
    int32,
    int64,
    string,
)
from ottla.configs.validators import NonEmptyString, at_least, between

REMOTE_STORAGE_CONFIGS: Final = (
    int32("remote.fetch.max.wait.ms", 500, at_least(1), CLUSTER_WIDE),
    int64("remote.list.offsets.request.timeout.ms", 30_000, at_least(1), CLUSTER_WIDE),
    int64(
        "remote.log.index.file.cache.total.size.bytes",
        1_073_741_824,
        at_least(1),
        LOW,
        CLUSTER_WIDE,
    ),
    int64("remote.log.index.file.cache.ttl.ms", 900_000, at_least(-1), LOW, INTERNAL),
    int32("remote.log.manager.copier.thread.pool.size", 10, at_least(1), CLUSTER_WIDE),
    int64("remote.log.manager.copy.max.bytes.per.second", LONG_MAX, at_least(1), CLUSTER_WIDE),
    int32("remote.log.manager.copy.quota.window.num", 11, at_least(1)),
    int32("remote.log.manager.copy.quota.window.size.seconds", 1, at_least(1)),
    int32("remote.log.manager.expiration.thread.pool.size", 10, at_least(1), CLUSTER_WIDE),
    int64("remote.log.manager.fetch.max.bytes.per.second", LONG_MAX, at_least(1), CLUSTER_WIDE),
    int32("remote.log.manager.fetch.quota.window.num", 11, at_least(1)),
    int32("remote.log.manager.fetch.quota.window.size.seconds", 1, at_least(1)),
    int32("remote.log.manager.follower.thread.pool.size", 2, at_least(1), CLUSTER_WIDE),
    int64("remote.log.manager.task.interval.ms", 30_000, at_least(1), LOW),
    int64("remote.log.manager.task.retry.backoff.max.ms", 30_000, at_least(1), LOW, INTERNAL),
    int64("remote.log.manager.task.retry.backoff.ms", 500, at_least(1), LOW, INTERNAL),
    double("remote.log.manager.task.retry.jitter", 0.2, between(0, 0.5), LOW, INTERNAL),
    int32("remote.log.manager.thread.pool.size", 2, at_least(1)),
    int32("remote.log.metadata.custom.metadata.max.bytes", 128, at_least(0), LOW),
    string(
        "remote.log.metadata.manager.class.name",
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        NonEmptyString(),
    ),
    string("remote.log.metadata.manager.class.path", None),
    string("remote.log.metadata.manager.impl.prefix", "rlmm.config.", NonEmptyString()),
    string("remote.log.metadata.manager.listener.name", None, NonEmptyString()),
    int32("remote.log.reader.max.pending.tasks", 100, at_least(1)),
    int32("remote.log.reader.threads", 10, at_least(1), CLUSTER_WIDE),
    string("remote.log.storage.manager.class.name", None, NonEmptyString()),
    string("remote.log.storage.manager.class.path", None),
    string("remote.log.storage.manager.impl.prefix", "rsm.config.", NonEmptyString()),
    boolean("remote.log.storage.system.enable", False),
)
