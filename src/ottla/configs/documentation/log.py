"""What the broker configs mean: how partitions are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LOG_TEXTS: Final[Mapping[str, str]] = {
    "alter.config.policy.class.name": (
        "Java class that decides whether clients may alter a config (`AlterConfigPolicy`)."
    ),
    "auto.create.topics.enable": (
        "Whether a topic is created when a client requests the metadata of a topic that does "
        "not exist. The client must allow it as well."
    ),
    "compression.gzip.level": (
        "Default of the topic config of the same name: the compression level for gzip, from 1 "
        "(fastest) to 9 (smallest); -1 is the default of the library."
    ),
    "compression.lz4.level": (
        "Default of the topic config of the same name: the compression level for lz4, from 1 "
        "(fastest) to 17 (smallest)."
    ),
    "compression.type": (
        "Default of the topic config of the same name: the codec in which the broker stores "
        "batches. producer keeps the codec that the producer chose."
    ),
    "compression.zstd.level": (
        "Default of the topic config of the same name: the compression level for zstd, from "
        "-131072 (fastest) to 22 (smallest)."
    ),
    "cordoned.log.dirs": (
        "Log directories that receive no new partitions, for example before a disk is removed; "
        "* means all directories of the broker. Partitions that are already there stay and "
        "remain available."
    ),
    "create.topic.policy.class.name": (
        "Java class that decides whether a topic may be created (`CreateTopicPolicy`)."
    ),
    "delete.topic.enable": (
        "Whether clients may delete topics. If false, DeleteTopics fails with "
        "TOPIC_DELETION_DISABLED."
    ),
    "log.cleaner.backoff.ms": (
        "How often the broker looks for compacted topics that need compaction, in milliseconds."
    ),
    "log.cleaner.dedupe.buffer.size": (
        "Memory for the keys of the log that is being compacted, in bytes. Compaction takes "
        "several passes when the keys do not fit."
    ),
    "log.cleaner.delete.retention.ms": (
        "Default of the topic config delete.retention.ms: how long compacted topics keep "
        "deletion markers, in milliseconds."
    ),
    "log.cleaner.enable": (
        "Whether the broker compacts topics with cleanup.policy=compact. If false, compacted "
        "topics grow without limit, __consumer_offsets included."
    ),
    "log.cleaner.io.buffer.load.factor": (
        "How full Kafka's buffer of keys may get, from 0 to 1, before the cleaner starts "
        "another pass."
    ),
    "log.cleaner.io.buffer.size": (
        "Size of the buffers through which Kafka's cleaner threads read and write, in bytes."
    ),
    "log.cleaner.io.max.bytes.per.second": (
        "Highest rate at which compaction reads and writes, in bytes per second."
    ),
    "log.cleaner.max.compaction.lag.ms": (
        "Default of the topic config max.compaction.lag.ms: the longest time that a record may "
        "remain uncompacted, in milliseconds."
    ),
    "log.cleaner.min.cleanable.ratio": (
        "Default of the topic config min.cleanable.dirty.ratio: the part of a log that must be "
        "uncompacted before the log is compacted again, from 0 to 1."
    ),
    "log.cleaner.min.compaction.lag.ms": (
        "Default of the topic config min.compaction.lag.ms: the shortest time that a record "
        "remains uncompacted, in milliseconds."
    ),
    "log.cleaner.threads": (
        "Number of threads that compact logs. Ottla compacts one log at a time. The value is "
        "checked against log.cleaner.dedupe.buffer.size, as in Kafka."
    ),
    "log.cleanup.policy": (
        "Default of the topic config cleanup.policy: delete removes old segments, compact keeps "
        "the last record of each key. Both can be combined."
    ),
    "log.dir": "Directory of the logs if log.dirs is not set.",
    "log.dir.failure.timeout.ms": (
        "How long Kafka's broker waits, in milliseconds, to report a failed log directory to "
        "the controller before it shuts down."
    ),
    "log.dirs": (
        "Directories of the logs, separated by commas; usually one for each disk. Each "
        "partition replica is stored in one of them."
    ),
    "log.flush.interval.messages": (
        "Default of the topic config flush.messages: the number of records after which a log is "
        "flushed to disk. 1 flushes before the producer receives its acknowledgement."
    ),
    "log.flush.interval.ms": (
        "Default of the topic config flush.ms: the longest time between two flushes of a log, "
        "in milliseconds. If it is not set, log.flush.scheduler.interval.ms applies."
    ),
    "log.flush.offset.checkpoint.interval.ms": (
        "How often the broker writes the recovery points of its logs to disk, in milliseconds. "
        "After a crash, a log is checked from its recovery point on."
    ),
    "log.flush.scheduler.interval.ms": (
        "How often the broker looks for logs that must be flushed, in milliseconds. Ottla looks "
        "at least once a second."
    ),
    "log.flush.start.offset.checkpoint.interval.ms": (
        "How often Kafka writes the log start offsets to disk, in milliseconds. Ottla writes "
        "them together with the recovery points."
    ),
    "log.index.interval.bytes": (
        "Default of the topic config index.interval.bytes: the number of bytes of records after "
        "which the offset index gets another entry."
    ),
    "log.index.size.max.bytes": (
        "Default of the topic config segment.index.bytes: the largest size of a segment's "
        "offset index, in bytes."
    ),
    "log.initial.task.delay.ms": (
        "How long Kafka waits after the start before retention, flushing and checkpoints begin, "
        "in milliseconds. For tests."
    ),
    "log.local.retention.bytes": (
        "Default of the topic config local.retention.bytes: bytes of a partition that stay on "
        "the local disk after they were copied to remote storage. -2 means log.retention.bytes."
    ),
    "log.local.retention.ms": (
        "Default of the topic config local.retention.ms: how long segments stay on the local "
        "disk after they were copied to remote storage, in milliseconds. -2 means "
        "log.retention.ms."
    ),
    "log.message.timestamp.after.max.ms": (
        "Default of the topic config message.timestamp.after.max.ms: how far a record's "
        "timestamp may be ahead of the broker's clock, in milliseconds."
    ),
    "log.message.timestamp.before.max.ms": (
        "Default of the topic config message.timestamp.before.max.ms: how far a record's "
        "timestamp may be behind the broker's clock, in milliseconds."
    ),
    "log.message.timestamp.type": (
        "Default of the topic config message.timestamp.type: CreateTime keeps the producer's "
        "timestamps, LogAppendTime stores the time of the append."
    ),
    "log.preallocate": (
        "Default of the topic config preallocate: whether the disk space of a segment is "
        "reserved when the segment is created."
    ),
    "log.retention.bytes": (
        "Default of the topic config retention.bytes: the bytes that each partition keeps "
        "before its oldest segments are deleted; -1 is no limit."
    ),
    "log.retention.check.interval.ms": (
        "How often the broker looks for segments that retention deletes, in milliseconds."
    ),
    "log.retention.hours": (
        "Default of the topic config retention.ms, in hours. log.retention.minutes and "
        "log.retention.ms override it."
    ),
    "log.retention.minutes": (
        "Default of the topic config retention.ms, in minutes. It overrides "
        "log.retention.hours, and log.retention.ms overrides it."
    ),
    "log.retention.ms": (
        "Default of the topic config retention.ms: how long records are kept before their "
        "segments are deleted, in milliseconds; -1 is no limit."
    ),
    "log.roll.hours": "Default of the topic config segment.ms, in hours. log.roll.ms overrides it.",
    "log.roll.jitter.hours": (
        "Default of the topic config segment.jitter.ms, in hours. log.roll.jitter.ms overrides it."
    ),
    "log.roll.jitter.ms": (
        "Default of the topic config segment.jitter.ms: the upper limit of a random time that "
        "is subtracted from the age at which a segment is rolled, in milliseconds."
    ),
    "log.roll.ms": (
        "Default of the topic config segment.ms: the age at which a segment is rolled even if "
        "it is not full, in milliseconds."
    ),
    "log.segment.bytes": (
        "Default of the topic config segment.bytes: the size at which a segment is rolled, in "
        "bytes."
    ),
    "log.segment.delete.delay.ms": (
        "Default of the topic config file.delete.delay.ms: how long a file stays on disk after "
        "it was removed from the log, in milliseconds."
    ),
    "message.max.bytes": (
        "Default of the topic config max.message.bytes: the largest record batch that the "
        "broker accepts, in bytes, after compression."
    ),
    "min.insync.replicas": (
        "Default of the topic config of the same name: the number of in-sync replicas, the "
        "leader included, that a write with acks=all needs."
    ),
    "num.partitions": (
        "Number of partitions of a new topic, where the client does not say how many."
    ),
    "num.recovery.threads.per.data.dir": (
        "Number of threads that load and check the logs of each directory when the broker starts."
    ),
    "num.replica.alter.log.dirs.threads": (
        "Number of threads that move replicas between log directories."
    ),
    "ottla.delete.retention.bytes": (
        "Maximum bytes of deleted topics in each log directory; -1 is no limit. Beyond it, "
        "deleted topics are purged in the order of their deletion."
    ),
    "ottla.delete.retention.min.free.percent": (
        "When less than this percentage of the disk of a log directory is free, deleted topics "
        "with a replica in the directory are purged in the order of their deletion. With 0, they "
        "are purged only after a write has failed because the disk is full."
    ),
    "ottla.delete.retention.ms": (
        "Default of the topic config of the same name: how long a deleted topic can be restored."
    ),
    "ottla.delete.retention.partitions.max": (
        "Maximum number of partitions of all deleted topics that can be restored. When another "
        "topic is deleted, earlier deleted topics are purged in the order of their deletion to "
        "make room; a topic with more partitions than this cannot be restored."
    ),
    "ottla.record.validation": (
        "Default of the topic config of the same name: batch checks the header and the checksum "
        "of a produced batch, record checks every record as well, as Apache Kafka does."
    ),
    "ottla.schema.topic": (
        "The topic of the schema registry, from which brokers read the schemas for "
        "ottla.key.schema.validation and ottla.value.schema.validation."
    ),
    "ottla.stray.retention.ms": (
        "How long a directory that belongs to no partition of this broker (its name ends in "
        "-stray) is kept before it is removed, in milliseconds. -1 keeps such directories until "
        "someone removes them."
    ),
}
