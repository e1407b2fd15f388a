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
from ottla.configs.status import NO_TIERED_STORAGE, WITHOUT_EFFECT
from ottla.configs.validators import NonEmptyString, at_least, between

REMOTE_STORAGE_CONFIGS: Final = (
    int32("remote.fetch.max.wait.ms", 500, at_least(1), CLUSTER_WIDE, WITHOUT_EFFECT),
    int64(
        "remote.list.offsets.request.timeout.ms", 30_000, at_least(1), CLUSTER_WIDE, WITHOUT_EFFECT
    ),
    int64(
        "remote.log.index.file.cache.total.size.bytes",
        1_073_741_824,
        at_least(1),
        LOW,
        CLUSTER_WIDE,
        WITHOUT_EFFECT,
    ),
    int64(
        "remote.log.index.file.cache.ttl.ms", 900_000, at_least(-1), LOW, INTERNAL, WITHOUT_EFFECT
    ),
    int32(
        "remote.log.manager.copier.thread.pool.size", 10, at_least(1), CLUSTER_WIDE, WITHOUT_EFFECT
    ),
    int64(
        "remote.log.manager.copy.max.bytes.per.second",
        LONG_MAX,
        at_least(1),
        CLUSTER_WIDE,
        WITHOUT_EFFECT,
    ),
    int32("remote.log.manager.copy.quota.window.num", 11, at_least(1), WITHOUT_EFFECT),
    int32("remote.log.manager.copy.quota.window.size.seconds", 1, at_least(1), WITHOUT_EFFECT),
    int32(
        "remote.log.manager.expiration.thread.pool.size",
        10,
        at_least(1),
        CLUSTER_WIDE,
        WITHOUT_EFFECT,
    ),
    int64(
        "remote.log.manager.fetch.max.bytes.per.second",
        LONG_MAX,
        at_least(1),
        CLUSTER_WIDE,
        WITHOUT_EFFECT,
    ),
    int32("remote.log.manager.fetch.quota.window.num", 11, at_least(1), WITHOUT_EFFECT),
    int32("remote.log.manager.fetch.quota.window.size.seconds", 1, at_least(1), WITHOUT_EFFECT),
    int32(
        "remote.log.manager.follower.thread.pool.size", 2, at_least(1), CLUSTER_WIDE, WITHOUT_EFFECT
    ),
    int64("remote.log.manager.task.interval.ms", 30_000, at_least(1), LOW, WITHOUT_EFFECT),
    int64(
        "remote.log.manager.task.retry.backoff.max.ms",
        30_000,
        at_least(1),
        LOW,
        INTERNAL,
        WITHOUT_EFFECT,
    ),
    int64(
        "remote.log.manager.task.retry.backoff.ms", 500, at_least(1), LOW, INTERNAL, WITHOUT_EFFECT
    ),
    double(
        "remote.log.manager.task.retry.jitter", 0.2, between(0, 0.5), LOW, INTERNAL, WITHOUT_EFFECT
    ),
    int32("remote.log.manager.thread.pool.size", 2, at_least(1), WITHOUT_EFFECT),
    int32("remote.log.metadata.custom.metadata.max.bytes", 128, at_least(0), LOW, WITHOUT_EFFECT),
    string(
        "remote.log.metadata.manager.class.name",
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        NonEmptyString(),
        WITHOUT_EFFECT,
    ),
    string("remote.log.metadata.manager.class.path", None, WITHOUT_EFFECT),
    string(
        "remote.log.metadata.manager.impl.prefix", "rlmm.config.", NonEmptyString(), WITHOUT_EFFECT
    ),
    string("remote.log.metadata.manager.listener.name", None, NonEmptyString(), WITHOUT_EFFECT),
    int32("remote.log.reader.max.pending.tasks", 100, at_least(1), WITHOUT_EFFECT),
    int32("remote.log.reader.threads", 10, at_least(1), CLUSTER_WIDE, WITHOUT_EFFECT),
    string("remote.log.storage.manager.class.name", None, NonEmptyString(), WITHOUT_EFFECT),
    string("remote.log.storage.manager.class.path", None, WITHOUT_EFFECT),
    string(
        "remote.log.storage.manager.impl.prefix", "rsm.config.", NonEmptyString(), WITHOUT_EFFECT
    ),
    boolean("remote.log.storage.system.enable", False, NO_TIERED_STORAGE),
)
