"""How partitions are stored: segments, retention, compaction, compression, flushing."""

from __future__ import annotations

import sys
from typing import Final

from ottla.configs.definition import (
    CLUSTER_WIDE,
    HIGH,
    INTERNAL,
    LONG_MAX,
    LOW,
    PER_BROKER,
    boolean,
    double,
    int32,
    int64,
    java_class,
    string,
    strings,
)
from ottla.configs.status import NO_JAVA_CLASSES, WITHOUT_EFFECT
from ottla.configs.validators import (
    GzipLevel,
    NonEmptyString,
    at_least,
    between,
    list_of,
    one_of,
)

LOG_CONFIGS: Final = (
    java_class("alter.config.policy.class.name", None, LOW, NO_JAVA_CLASSES),
    boolean("auto.create.topics.enable", True, HIGH),
    int32("compression.gzip.level", -1, GzipLevel(), CLUSTER_WIDE),
    int32("compression.lz4.level", 9, between(1, 17), CLUSTER_WIDE),
    string(
        "compression.type",
        "producer",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        HIGH,
        CLUSTER_WIDE,
    ),
    int32("compression.zstd.level", 3, between(-131_072, 22), CLUSTER_WIDE),
    strings("cordoned.log.dirs", (), list_of(), PER_BROKER),
    java_class("create.topic.policy.class.name", None, LOW, NO_JAVA_CLASSES),
    boolean("delete.topic.enable", True, HIGH),
    int64("log.cleaner.backoff.ms", 15_000, at_least(0), CLUSTER_WIDE),
    int64("log.cleaner.dedupe.buffer.size", 134_217_728, CLUSTER_WIDE),
    int64("log.cleaner.delete.retention.ms", 86_400_000, at_least(0), CLUSTER_WIDE),
    boolean("log.cleaner.enable", True),
    double("log.cleaner.io.buffer.load.factor", 0.9, CLUSTER_WIDE, WITHOUT_EFFECT),
    int32("log.cleaner.io.buffer.size", 524_288, at_least(0), CLUSTER_WIDE, WITHOUT_EFFECT),
    double("log.cleaner.io.max.bytes.per.second", sys.float_info.max, CLUSTER_WIDE),
    int64("log.cleaner.max.compaction.lag.ms", LONG_MAX, at_least(1), CLUSTER_WIDE),
    double("log.cleaner.min.cleanable.ratio", 0.5, between(0, 1), CLUSTER_WIDE),
    int64("log.cleaner.min.compaction.lag.ms", 0, at_least(0), CLUSTER_WIDE),
    int32("log.cleaner.threads", 1, at_least(0), CLUSTER_WIDE, WITHOUT_EFFECT),
    strings("log.cleanup.policy", ("delete",), list_of("compact", "delete"), CLUSTER_WIDE),
    # Kafka's default.
    strings("log.dir", ("/tmp/kafka-logs",), list_of(may_be_empty=False), HIGH),  # noqa: S108
    int64("log.dir.failure.timeout.ms", 30_000, at_least(1), LOW, WITHOUT_EFFECT),
    strings("log.dirs", None, list_of(may_be_empty=False), HIGH),
    int64("log.flush.interval.messages", LONG_MAX, at_least(1), HIGH, CLUSTER_WIDE),
    int64("log.flush.interval.ms", None, HIGH, CLUSTER_WIDE),
    int32("log.flush.offset.checkpoint.interval.ms", 60_000, at_least(0), HIGH),
    int64("log.flush.scheduler.interval.ms", LONG_MAX, HIGH),
    int32(
        "log.flush.start.offset.checkpoint.interval.ms", 60_000, at_least(0), HIGH, WITHOUT_EFFECT
    ),
    int32("log.index.interval.bytes", 4096, at_least(0), CLUSTER_WIDE),
    int32("log.index.size.max.bytes", 10_485_760, at_least(4), CLUSTER_WIDE),
    int64("log.initial.task.delay.ms", 30_000, at_least(0), LOW, INTERNAL, WITHOUT_EFFECT),
    int64("log.local.retention.bytes", -2, at_least(-2), CLUSTER_WIDE, WITHOUT_EFFECT),
    int64("log.local.retention.ms", -2, at_least(-2), CLUSTER_WIDE, WITHOUT_EFFECT),
    int64("log.message.timestamp.after.max.ms", 3_600_000, at_least(0), CLUSTER_WIDE),
    int64("log.message.timestamp.before.max.ms", LONG_MAX, at_least(0), CLUSTER_WIDE),
    string(
        "log.message.timestamp.type",
        "CreateTime",
        one_of("CreateTime", "LogAppendTime"),
        CLUSTER_WIDE,
    ),
    boolean("log.preallocate", False, CLUSTER_WIDE),
    int64("log.retention.bytes", -1, HIGH, CLUSTER_WIDE),
    int64("log.retention.check.interval.ms", 300_000, at_least(1)),
    int32("log.retention.hours", 168, HIGH),
    int32("log.retention.minutes", None, HIGH),
    int64("log.retention.ms", None, HIGH, CLUSTER_WIDE),
    int32("log.roll.hours", 168, at_least(1), HIGH),
    int32("log.roll.jitter.hours", 0, at_least(0), HIGH),
    int64("log.roll.jitter.ms", None, HIGH, CLUSTER_WIDE),
    int64("log.roll.ms", None, HIGH, CLUSTER_WIDE),
    int32("log.segment.bytes", 1_073_741_824, at_least(1_048_576), HIGH, CLUSTER_WIDE),
    int64("log.segment.delete.delay.ms", 60_000, at_least(0), HIGH, CLUSTER_WIDE),
    int32("message.max.bytes", 1_048_588, at_least(0), HIGH, CLUSTER_WIDE),
    int32("min.insync.replicas", 1, at_least(1), HIGH, CLUSTER_WIDE),
    int32("num.partitions", 1, at_least(1)),
    int32("num.recovery.threads.per.data.dir", 2, at_least(1), HIGH, CLUSTER_WIDE, WITHOUT_EFFECT),
    int32("num.replica.alter.log.dirs.threads", None, HIGH, WITHOUT_EFFECT),
    # Ottla's own.
    int64("ottla.delete.retention.bytes", -1, at_least(-1), CLUSTER_WIDE),
    int32("ottla.delete.retention.min.free.percent", 5, between(0, 100), CLUSTER_WIDE),
    int64("ottla.delete.retention.ms", 86_400_000, at_least(0), CLUSTER_WIDE),
    int32("ottla.delete.retention.partitions.max", 10_000, at_least(0), CLUSTER_WIDE),
    string("ottla.record.validation", "batch", one_of("batch", "record"), CLUSTER_WIDE),
    string("ottla.schema.topic", "_schemas", NonEmptyString()),
    int64("ottla.stray.retention.ms", 604_800_000, at_least(-1), LOW, CLUSTER_WIDE),
)
