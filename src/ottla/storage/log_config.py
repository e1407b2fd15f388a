"""The configuration of a topic's logs, with Kafka's names and defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ottla.schemas.rules import SchemaRules
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import TimestampType

NEVER_MS: Final = 2**63 - 1
UNLIMITED: Final = -1


@dataclass(frozen=True, slots=True)
class LogConfig:
    """Immutable: a dynamic configuration change replaces it."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    preallocate: bool = False
    max_message_bytes: int = 1_048_588
    message_timestamp_type: TimestampType = TimestampType.CREATE_TIME
    message_timestamp_before_max_ms: int = NEVER_MS
    message_timestamp_after_max_ms: int = 3_600_000
    # Whether every record of a client's batch is checked (`ottla.record.validation`). The records
    # of a compacted topic, and of one with schema rules, always are.
    validates_records: bool = False
    # What its keys and values must be; checked by the broker, before the append.
    schema_rules: SchemaRules | None = None
    # Delayed delivery (`ottla.delivery.delay.*`): whether records may ask for it, the delay of
    # those that do not, the longest delay, and what a partition holds at most.
    delays: bool = False
    delay_ms: int = 0
    delay_ms_max: int = 30 * 24 * 3600 * 1000
    delay_records_max: int = 10_000_000
    delay_bytes_max: int = 1 << 30
    # None keeps what the producer chose.
    compression_type: Codec | None = None
    compression_level: int | None = None
    delete: bool = True
    compact: bool = False
    retention_ms: int = 7 * 24 * 3600 * 1000
    retention_bytes: int = UNLIMITED
    delete_retention_ms: int = 24 * 3600 * 1000
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = NEVER_MS
    file_delete_delay_ms: int = 60_000
    # With 1, an append is synced before it is acknowledged (by group commit).
    flush_messages: int = NEVER_MS
    flush_ms: int = NEVER_MS
    producer_id_expiration_ms: int = 24 * 3600 * 1000
    # Whether a batch may open a transaction only after the coordinator has verified it (KIP-890).
    transaction_verification_enable: bool = False

    # Derived values, computed once because every append reads them several times.
    syncs_before_acknowledging: bool = field(init=False, repr=False, compare=False)
    # Whether every record of a client's batch is checked, and whether a batch may have to be opened
    # at all: to check its records, or to compress them with another codec.
    checks_records: bool = field(init=False, repr=False, compare=False)
    opens_batches: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "syncs_before_acknowledging", self.flush_messages == 1)
        reads = self.schema_rules is not None or self.delays
        checks = self.compact or self.validates_records or reads
        object.__setattr__(self, "checks_records", checks)
        object.__setattr__(self, "opens_batches", checks or self.compression_type is not None)
