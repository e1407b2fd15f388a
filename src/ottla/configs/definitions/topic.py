"""Configs that can be set for each topic."""

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
from ottla.configs.status import NO_TIERED_STORAGE, WITHOUT_EFFECT
from ottla.configs.validators import (
    GzipLevel,
    SchemaContext,
    ThrottledReplicas,
    at_least,
    between,
    list_of,
    one_of,
)
from ottla.schemas.rules import PayloadCheck, SubjectNaming

_PAYLOAD_CHECKS: Final = tuple(each.value for each in PayloadCheck)
_SUBJECT_NAMES: Final = tuple(each.value for each in SubjectNaming)
_BY_TOPIC: Final = SubjectNaming.TOPIC.value

TOPIC_CONFIGS: Final = definitions(
    (
        strings("cleanup.policy", ("delete",), list_of("compact", "delete")),
        int32("compression.gzip.level", -1, GzipLevel()),
        int32("compression.lz4.level", 9, between(1, 17)),
        string(
            "compression.type",
            "producer",
            one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        ),
        int32("compression.zstd.level", 3, between(-131_072, 22)),
        int64("delete.retention.ms", 86_400_000, at_least(0)),
        # KIP-1191, of Kafka 4.4.
        boolean("errors.deadletterqueue.group.enable", False),
        int64("file.delete.delay.ms", 60_000, at_least(0)),
        int64("flush.messages", LONG_MAX, at_least(1)),
        int64("flush.ms", LONG_MAX, at_least(0)),
        strings("follower.replication.throttled.replicas", (), ThrottledReplicas()),
        int32("index.interval.bytes", 4096, at_least(0)),
        int32("internal.segment.bytes", None, INTERNAL),
        strings("leader.replication.throttled.replicas", (), ThrottledReplicas()),
        int64("local.retention.bytes", -2, at_least(-2), WITHOUT_EFFECT),
        int64("local.retention.ms", -2, at_least(-2), WITHOUT_EFFECT),
        int64("max.compaction.lag.ms", LONG_MAX, at_least(1)),
        int32("max.message.bytes", 1_048_588, at_least(0)),
        int64("message.timestamp.after.max.ms", 3_600_000, at_least(0)),
        int64("message.timestamp.before.max.ms", LONG_MAX, at_least(0)),
        string("message.timestamp.type", "CreateTime", one_of("CreateTime", "LogAppendTime")),
        double("min.cleanable.dirty.ratio", 0.5, between(0, 1)),
        int64("min.compaction.lag.ms", 0, at_least(0)),
        int32("min.insync.replicas", 1, at_least(1)),
        # Ottla's own.
        boolean("ottla.delete.protection", False),
        int64("ottla.delete.retention.ms", 86_400_000, at_least(0)),
        string("ottla.key.schema.validation", "none", one_of(*_PAYLOAD_CHECKS)),
        string("ottla.key.subject.name.strategy", _BY_TOPIC, one_of(*_SUBJECT_NAMES)),
        int64("ottla.delivery.delay.bytes.max", 1 << 30, at_least(1)),
        boolean("ottla.delivery.delay.enable", False),
        int64("ottla.delivery.delay.max.ms", 2_592_000_000, between(1, 315_360_000_000)),
        int64("ottla.delivery.delay.ms", 0, between(0, 315_360_000_000)),
        int64("ottla.delivery.delay.records.max", 10_000_000, at_least(1)),
        string("ottla.record.validation", "batch", one_of("batch", "record")),
        string("ottla.schema.context", ".", SchemaContext()),
        string("ottla.schema.deadletterqueue.topic.name", ""),
        string("ottla.value.schema.validation", "none", one_of(*_PAYLOAD_CHECKS)),
        string("ottla.value.subject.name.strategy", _BY_TOPIC, one_of(*_SUBJECT_NAMES)),
        boolean("preallocate", False),
        boolean("remote.log.copy.disable", False, WITHOUT_EFFECT),
        boolean("remote.log.delete.on.disable", False, WITHOUT_EFFECT),
        boolean("remote.storage.enable", False, NO_TIERED_STORAGE),
        int64("retention.bytes", -1),
        int64("retention.ms", 604_800_000, at_least(-1)),
        int32("segment.bytes", 1_073_741_824, at_least(1_048_576)),
        int32("segment.index.bytes", 10_485_760, at_least(4)),
        int64("segment.jitter.ms", 0, at_least(0)),
        int64("segment.ms", 604_800_000, at_least(1)),
        boolean("unclean.leader.election.enable", False),
    )
)
