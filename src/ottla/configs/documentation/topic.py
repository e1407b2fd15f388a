"""What the configs of topics mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TOPIC_TEXTS: Final[Mapping[str, str]] = {
    "cleanup.policy": (
        "What happens to old segments: delete removes them after retention.ms or "
        "retention.bytes, compact keeps the last record of each key. Both can be combined; an "
        "empty list keeps everything."
    ),
    "compression.gzip.level": (
        "Compression level for compression.type=gzip, from 1 (fastest) to 9 (smallest); -1 is "
        "the default of the library."
    ),
    "compression.lz4.level": (
        "Compression level for compression.type=lz4, from 1 (fastest) to 17 (smallest)."
    ),
    "compression.type": (
        "Codec in which the broker stores batches. producer keeps the codec that the producer "
        "chose, uncompressed stores batches without compression."
    ),
    "compression.zstd.level": (
        "Compression level for compression.type=zstd, from -131072 (fastest) to 22 (smallest)."
    ),
    "delete.retention.ms": (
        "How long a compacted topic keeps deletion markers (records with a null value), in "
        "milliseconds. A consumer that reads from the beginning must reach the end within this "
        "time to see all deletions."
    ),
    "errors.deadletterqueue.group.enable": (
        "Whether share groups may write records to this topic that they give up."
    ),
    "file.delete.delay.ms": (
        "How long a file stays on disk after it was removed from the log, in milliseconds. "
        "Readers that still use the file can finish."
    ),
    "flush.messages": (
        "Number of records after which the log is flushed to disk. The default leaves flushing "
        "to the operating system; replication protects the data."
    ),
    "flush.ms": (
        "Longest time between two flushes of the log to disk, in milliseconds. The default "
        "leaves flushing to the operating system; replication protects the data."
    ),
    "follower.replication.throttled.replicas": (
        "Replicas whose fetching is throttled on the follower, as "
        "PARTITION:BROKER,PARTITION:BROKER,...; * throttles all replicas of the topic. The rate "
        "is the broker config follower.replication.throttled.rate."
    ),
    "index.interval.bytes": (
        "Number of bytes of records after which the offset index gets another entry. More "
        "entries make lookups read less of the log and the index larger."
    ),
    "internal.segment.bytes": (
        "Size at which a segment is rolled, in bytes, below the minimum of segment.bytes. Only "
        "for tests."
    ),
    "leader.replication.throttled.replicas": (
        "Replicas whose fetching is throttled on the leader, as "
        "PARTITION:BROKER,PARTITION:BROKER,...; * throttles all replicas of the topic. The rate "
        "is the broker config leader.replication.throttled.rate."
    ),
    "local.retention.bytes": (
        "Bytes of a partition that stay on the broker's disk after they were copied to remote "
        "storage. -2 means retention.bytes."
    ),
    "local.retention.ms": (
        "How long segments stay on the broker's disk after they were copied to remote storage, "
        "in milliseconds. -2 means retention.ms."
    ),
    "max.compaction.lag.ms": (
        "Longest time that a record may remain uncompacted, in milliseconds. Only for compacted "
        "topics."
    ),
    "max.message.bytes": (
        "Largest record batch that the broker accepts, in bytes, after compression. Consumers "
        "can read a larger batch than their fetch limits if it is the first of a fetch."
    ),
    "message.timestamp.after.max.ms": (
        "How far a record's timestamp may be ahead of the broker's clock, in milliseconds; "
        "later ones are rejected. Not used with message.timestamp.type=LogAppendTime."
    ),
    "message.timestamp.before.max.ms": (
        "How far a record's timestamp may be behind the broker's clock, in milliseconds; "
        "earlier ones are rejected. Not used with message.timestamp.type=LogAppendTime."
    ),
    "message.timestamp.type": (
        "Timestamp of a record: CreateTime is the producer's time, LogAppendTime the time at "
        "which the broker appended the record."
    ),
    "min.cleanable.dirty.ratio": (
        "Part of a log that must be uncompacted before the log is compacted again, from 0 to 1. "
        "A lower ratio compacts more often and wastes less space."
    ),
    "min.compaction.lag.ms": (
        "Shortest time that a record remains uncompacted, in milliseconds. Only for compacted "
        "topics."
    ),
    "min.insync.replicas": (
        "Number of in-sync replicas, the leader included, that a write with acks=all needs. With "
        "fewer, the broker responds with NOT_ENOUGH_REPLICAS."
    ),
    "ottla.delete.protection": (
        "If true, the topic cannot be deleted: DeleteTopics responds with POLICY_VIOLATION until "
        "this is set to false."
    ),
    "ottla.delete.retention.ms": (
        "How long the topic can be restored after its deletion, in milliseconds; with 0 its "
        "records are removed at once. The value at the time of the deletion applies."
    ),
    "ottla.key.schema.validation": (
        "What the leader checks in the keys of records. none: nothing. schema-id: the key has the"
        " id of a schema, and this schema is registered under the subject. full: in addition, the"
        " key fits the schema. Needs ottla[web] on every node. See docs/registry.md."
    ),
    "ottla.key.subject.name.strategy": (
        "Name of the subject of key schemas. TopicNameStrategy: the name of the topic and -key. "
        "RecordNameStrategy: the full name of the record. TopicRecordNameStrategy: the name of "
        "the topic, a hyphen and the full name of the record."
    ),
    "ottla.delivery.delay.bytes.max": (
        "Maximum bytes of records that a partition holds until they are due. A batch that would "
        "exceed it is refused with POLICY_VIOLATION."
    ),
    "ottla.delivery.delay.enable": (
        "Enables delayed delivery: a record with the header ottla-deliver-at (a time in "
        "milliseconds since the epoch, as decimal text) is held until then, and a record with the"
        " header ottla-cancel cancels the held records with its key. Needs cleanup.policy=delete,"
        " and cannot be switched off again."
    ),
    "ottla.delivery.delay.max.ms": (
        "Maximum time from now, by the broker's clock, to ottla-deliver-at, in milliseconds. A "
        "batch with a later record is refused with INVALID_RECORD."
    ),
    "ottla.delivery.delay.ms": (
        "How long records without the header ottla-deliver-at are held, in milliseconds. Needs "
        "ottla.delivery.delay.enable=true."
    ),
    "ottla.delivery.delay.records.max": (
        "Maximum number of records that a partition holds until they are due. A batch that would "
        "exceed it is refused with POLICY_VIOLATION."
    ),
    "ottla.record.validation": (
        "What the leader checks in an uncompressed or compressed batch before it appends it: "
        "batch checks the header and the checksum, record checks every record as well, as "
        "Apache Kafka does."
    ),
    "ottla.schema.context": (
        "The context of the schema registry in which the schemas of the topic are; a single dot "
        "is the default context. Used only with ottla.key.schema.validation or "
        "ottla.value.schema.validation."
    ),
    "ottla.schema.deadletterqueue.topic.name": (
        "Dead letter topic for batches with invalid records, which are then acknowledged. The "
        "topic must exist, its name must begin with errors.deadletterqueue.topic.name.prefix, and"
        " it needs errors.deadletterqueue.group.enable=true. If empty, these batches are refused "
        "with INVALID_RECORD."
    ),
    "ottla.value.schema.validation": (
        "What the leader checks in the values of records. none: nothing. schema-id: the value has"
        " the id of a schema, and this schema is registered under the subject. full: in addition,"
        " the value fits the schema. Records without a value are accepted. Needs ottla[web] on "
        "every node. See docs/registry.md."
    ),
    "ottla.value.subject.name.strategy": (
        "Name of the subject of value schemas. TopicNameStrategy: the name of the topic and "
        "-value. RecordNameStrategy: the full name of the record. TopicRecordNameStrategy: the "
        "name of the topic, a hyphen and the full name of the record."
    ),
    "preallocate": "Whether the disk space of a segment is reserved when the segment is created.",
    "remote.log.copy.disable": (
        "Whether segments are no longer copied to remote storage, so that the data there can "
        "only be read. Needs remote.storage.enable=true."
    ),
    "remote.log.delete.on.disable": (
        "Whether the topic's data in remote storage is deleted when remote.storage.enable "
        "becomes false."
    ),
    "remote.storage.enable": (
        "Whether segments are copied to remote storage (tiered storage). The brokers need "
        "remote.log.storage.system.enable=true."
    ),
    "retention.bytes": (
        "Bytes that each partition keeps before its oldest segments are deleted; -1 is no "
        "limit. Only with cleanup.policy=delete."
    ),
    "retention.ms": (
        "How long records are kept before their segments are deleted, in milliseconds; -1 is no "
        "limit. Only with cleanup.policy=delete."
    ),
    "segment.bytes": (
        "Size at which a segment is rolled, in bytes. Retention and compaction work on whole "
        "segments, so smaller segments are cleaned up sooner."
    ),
    "segment.index.bytes": (
        "Largest size of a segment's offset index, in bytes. A full index rolls the segment."
    ),
    "segment.jitter.ms": (
        "Upper limit of a random time that is subtracted from segment.ms, in milliseconds, so "
        "that not all partitions roll at the same time."
    ),
    "segment.ms": (
        "Age at which a segment is rolled even if it is not full, in milliseconds, so that "
        "retention and compaction can process it."
    ),
    "unclean.leader.election.enable": (
        "Whether a replica that is not in sync may become leader when no other is left. The "
        "partition is available again, and records may be lost."
    ),
}
