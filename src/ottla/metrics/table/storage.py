"""Logs, log directories, and the background work on them."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge, histogram

_LOG: Final = "kafka.log:type=Log,name={},topic=*,partition=*"
_CLEANER: Final = "kafka.log:type=LogCleaner,name={}"

LOG_SIZE: Final = gauge(
    "ottla_log_size_bytes",
    "Size of a partition's log on this node, by topic, partition and log directory. A log that is "
    "moved to another directory has two series.",
    "topic",
    "partition",
    "directory",
    kafka=_LOG.format("Size"),
)
LOG_SEGMENTS: Final = gauge(
    "ottla_log_segments",
    "Segments of a partition's log on this node.",
    "topic",
    "partition",
    kafka=_LOG.format("NumLogSegments"),
)
LOG_START_OFFSET: Final = gauge(
    "ottla_log_start_offset",
    "First offset of a partition's log on this node.",
    "topic",
    "partition",
    kafka=_LOG.format("LogStartOffset"),
)
LOG_END_OFFSET: Final = gauge(
    "ottla_log_end_offset",
    "Offset after the last record of a partition's log on this node.",
    "topic",
    "partition",
    kafka=_LOG.format("LogEndOffset"),
)
HIGH_WATERMARK: Final = gauge(
    "ottla_log_high_watermark",
    "Offset up to which the records of a partition are committed, as this node knows it. "
    "Consumers can read the records below it.",
    "topic",
    "partition",
)

DELETED_LOG_SIZE: Final = gauge(
    "ottla_deleted_log_size_bytes",
    "Size of the logs of deleted topics that can still be restored, by log directory.",
    "directory",
)
LOG_DIRECTORY_OFFLINE: Final = gauge(
    "ottla_log_directory_offline",
    "1 if the log directory has failed, else 0.",
    "directory",
    kafka="kafka.log:type=LogManager,name=LogDirectoryOffline,logDirectory=*",
)
DISK_FREE: Final = gauge(
    "ottla_disk_free_bytes",
    "Space on the device of a log directory that the node can still use.",
    "directory",
)
DISK_SIZE: Final = gauge(
    "ottla_disk_size_bytes",
    "Size of the device of a log directory.",
    "directory",
)
LOG_FLUSH_SECONDS: Final = histogram(
    "ottla_log_flush_seconds",
    "Time to flush a log to its device.",
    kafka="kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs",
)
SEGMENTS_DELETED: Final = counter(
    "ottla_log_segments_deleted_total",
    "Segments that were removed because of retention.ms or retention.bytes.",
)
CLEANER_READ_RECORDS: Final = counter(
    "ottla_log_cleaner_read_records_total",
    "Records that log compaction has read.",
)
CLEANER_KEPT_RECORDS: Final = counter(
    "ottla_log_cleaner_kept_records_total",
    "Records that log compaction has kept, of those that it has read.",
    kafka=_CLEANER.format("cleaner-recopy-percent"),
)
CLEANER_SECONDS: Final = histogram(
    "ottla_log_cleaner_seconds",
    "Time to compact one log.",
    kafka=_CLEANER.format("max-clean-time-secs"),
)
CLEANER_FAILED_PARTITIONS: Final = gauge(
    "ottla_log_cleaner_failed_partitions",
    "Partitions whose last compaction failed. They are compacted again when their log has grown.",
    kafka="kafka.log:type=LogCleanerManager,name=uncleanable-partitions-count,logDirectory=*",
)

PRODUCER_IDS: Final = gauge(
    "ottla_producer_ids",
    "Producer ids in the producer state of all partitions on this node.",
    kafka="kafka.server:type=ReplicaManager,name=ProducerIdCount",
)
PRODUCER_IDS_EXPIRED: Final = counter(
    "ottla_producer_ids_expired_total",
    "Producer ids that were removed from the producer state of a partition because their producer "
    "was idle for producer.id.expiration.ms.",
)

STORAGE_FAMILIES: Final = (
    LOG_SIZE,
    LOG_SEGMENTS,
    LOG_START_OFFSET,
    LOG_END_OFFSET,
    HIGH_WATERMARK,
    DELETED_LOG_SIZE,
    LOG_DIRECTORY_OFFLINE,
    DISK_FREE,
    DISK_SIZE,
    LOG_FLUSH_SECONDS,
    SEGMENTS_DELETED,
    CLEANER_READ_RECORDS,
    CLEANER_KEPT_RECORDS,
    CLEANER_SECONDS,
    CLEANER_FAILED_PARTITIONS,
    PRODUCER_IDS,
    PRODUCER_IDS_EXPIRED,
)
