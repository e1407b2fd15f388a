"""What each topic can have otherwise than its broker."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    INTERNAL,
    LONG_MAX,
    boolean,
    definitions,
    double,
    int32,
    int64,
    string,
    strings,
)
from ottla.configs.validators import (
    GzipLevel,
    ThrottledReplicas,
    at_least,
    between,
    list_of,
    one_of,
)

TOPIC_CONFIGS: Final = definitions(
    (
        strings(
            "cleanup.policy",
            ("delete",),
            list_of("compact", "delete"),
            "What happens to old segments: delete removes them after retention.ms or "
            "retention.bytes, compact keeps the last record of each key. Both can be combined; "
            "an empty list keeps everything.",
        ),
        int32(
            "compression.gzip.level",
            -1,
            GzipLevel(),
            "Compression level for compression.type=gzip, from 1 (fastest) to 9 (smallest); -1 "
            "is the default of the library.",
        ),
        int32(
            "compression.lz4.level",
            9,
            between(1, 17),
            "Compression level for compression.type=lz4, from 1 (fastest) to 17 (smallest).",
        ),
        string(
            "compression.type",
            "producer",
            one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
            "Codec in which the broker stores batches. producer keeps the codec that the "
            "producer chose, uncompressed stores batches without compression.",
        ),
        int32(
            "compression.zstd.level",
            3,
            between(-131_072, 22),
            "Compression level for compression.type=zstd, from -131072 (fastest) to 22 (smallest).",
        ),
        int64(
            "delete.retention.ms",
            86_400_000,
            at_least(0),
            "How long a compacted topic keeps deletion markers (records with a null value), in "
            "milliseconds. A consumer that reads from the beginning must reach the end within "
            "this time to see all deletions.",
        ),
        int64(
            "file.delete.delay.ms",
            60_000,
            at_least(0),
            "How long a file stays on disk after it was removed from the log, in milliseconds. "
            "Readers that still use the file can finish.",
        ),
        int64(
            "flush.messages",
            LONG_MAX,
            at_least(1),
            "Number of records after which the log is flushed to disk. The default leaves "
            "flushing to the operating system; replication protects the data.",
        ),
        int64(
            "flush.ms",
            LONG_MAX,
            at_least(0),
            "Longest time between two flushes of the log to disk, in milliseconds. The default "
            "leaves flushing to the operating system; replication protects the data.",
        ),
        strings(
            "follower.replication.throttled.replicas",
            (),
            ThrottledReplicas(),
            "Replicas whose fetching is throttled on the follower, as "
            "PARTITION:BROKER,PARTITION:BROKER,...; * throttles all replicas of the topic. The "
            "rate is the broker config follower.replication.throttled.rate.",
        ),
        int32(
            "index.interval.bytes",
            4096,
            at_least(0),
            "Number of bytes of records after which the offset index gets another entry. More "
            "entries make lookups read less of the log and the index larger.",
        ),
        int32(
            "internal.segment.bytes",
            None,
            INTERNAL,
            "Size at which a segment is rolled, in bytes, below the minimum of segment.bytes. "
            "Only for tests.",
        ),
        strings(
            "leader.replication.throttled.replicas",
            (),
            ThrottledReplicas(),
            "Replicas whose fetching is throttled on the leader, as "
            "PARTITION:BROKER,PARTITION:BROKER,...; * throttles all replicas of the topic. The "
            "rate is the broker config leader.replication.throttled.rate.",
        ),
        int64(
            "local.retention.bytes",
            -2,
            at_least(-2),
            "Bytes of a partition that stay on the broker's disk after they were copied to "
            "remote storage. -2 means retention.bytes.",
        ),
        int64(
            "local.retention.ms",
            -2,
            at_least(-2),
            "How long segments stay on the broker's disk after they were copied to remote "
            "storage, in milliseconds. -2 means retention.ms.",
        ),
        int64(
            "max.compaction.lag.ms",
            LONG_MAX,
            at_least(1),
            "Longest time that a record may remain uncompacted, in milliseconds. Only for "
            "compacted topics.",
        ),
        int32(
            "max.message.bytes",
            1_048_588,
            at_least(0),
            "Largest record batch that the broker accepts, in bytes, after compression. "
            "Consumers can read a larger batch than their fetch limits if it is the first of a "
            "fetch.",
        ),
        int64(
            "message.timestamp.after.max.ms",
            3_600_000,
            at_least(0),
            "How far a record's timestamp may be ahead of the broker's clock, in milliseconds; "
            "later ones are rejected. Not used with message.timestamp.type=LogAppendTime.",
        ),
        int64(
            "message.timestamp.before.max.ms",
            LONG_MAX,
            at_least(0),
            "How far a record's timestamp may be behind the broker's clock, in milliseconds; "
            "earlier ones are rejected. Not used with message.timestamp.type=LogAppendTime.",
        ),
        string(
            "message.timestamp.type",
            "CreateTime",
            one_of("CreateTime", "LogAppendTime"),
            "Which time a record carries: CreateTime is the producer's, LogAppendTime that at "
            "which the broker appended it.",
        ),
        double(
            "min.cleanable.dirty.ratio",
            0.5,
            between(0, 1),
            "Part of a log that must be uncompacted before the log is compacted again, from 0 "
            "to 1. A lower ratio compacts more often and wastes less space.",
        ),
        int64(
            "min.compaction.lag.ms",
            0,
            at_least(0),
            "Shortest time that a record remains uncompacted, in milliseconds. Only for "
            "compacted topics.",
        ),
        int32(
            "min.insync.replicas",
            1,
            at_least(1),
            "Number of in-sync replicas, the leader included, that a write with acks=all needs. "
            "With fewer, the broker answers NOT_ENOUGH_REPLICAS.",
        ),
        # Not one of Kafka's.
        string(
            "ottla.record.validation",
            "batch",
            one_of("batch", "record"),
            "What the leader checks in an uncompressed or compressed batch before it appends it: "
            "batch checks the header and the checksum, record checks every record as well, as "
            "Apache Kafka does.",
        ),
        boolean(
            "preallocate",
            False,
            "Whether the disk space of a segment is reserved when the segment is created.",
        ),
        boolean(
            "remote.log.copy.disable",
            False,
            "Whether segments are no longer copied to remote storage, so that what is there can "
            "only be read. Needs remote.storage.enable=true.",
        ),
        boolean(
            "remote.log.delete.on.disable",
            False,
            "Whether the topic's data in remote storage is deleted when remote.storage.enable "
            "becomes false.",
        ),
        boolean(
            "remote.storage.enable",
            False,
            "Whether segments are copied to remote storage (tiered storage). The brokers need "
            "remote.log.storage.system.enable=true.",
        ),
        int64(
            "retention.bytes",
            -1,
            "Bytes that each partition keeps before its oldest segments are deleted; -1 is no "
            "limit. Only with cleanup.policy=delete.",
        ),
        int64(
            "retention.ms",
            604_800_000,
            at_least(-1),
            "How long records are kept before their segments are deleted, in milliseconds; -1 "
            "is no limit. Only with cleanup.policy=delete.",
        ),
        int32(
            "segment.bytes",
            1_073_741_824,
            at_least(1_048_576),
            "Size at which a segment is rolled, in bytes. Retention and compaction work on "
            "whole segments, so smaller segments are cleaned up sooner.",
        ),
        int32(
            "segment.index.bytes",
            10_485_760,
            at_least(4),
            "Largest size of a segment's offset index, in bytes. A full index rolls the segment.",
        ),
        int64(
            "segment.jitter.ms",
            0,
            at_least(0),
            "Upper limit of a random time that is subtracted from segment.ms, in milliseconds, "
            "so that not all partitions roll at the same time.",
        ),
        int64(
            "segment.ms",
            604_800_000,
            at_least(1),
            "Age at which a segment is rolled even if it is not full, in milliseconds, so that "
            "retention and compaction can process it.",
        ),
        boolean(
            "unclean.leader.election.enable",
            False,
            "Whether a replica that is not in sync may become leader when no other is left. The "
            "partition is available again, and records may be lost.",
        ),
    )
)
