"""Converts topic configs into log configs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from ottla.configs import EffectiveTopicConfig, InvalidConfigError, NodeConfig
from ottla.runtime.dice import Dice
from ottla.schemas.rules import PartRule, PayloadCheck, SchemaRules, SubjectNaming
from ottla.storage.log_config import LogConfig
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import TimestampType

_log = logging.getLogger(__name__)

_CODECS: Final = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}
_TIMESTAMP_TYPES: Final = {
    "CreateTime": TimestampType.CREATE_TIME,
    "LogAppendTime": TimestampType.LOG_APPEND_TIME,
}
_GZIP_LEVEL_DEFAULT: Final = -1


def log_config_of(
    topic: EffectiveTopicConfig,
    *,
    producer_id_expiration_ms: int,
    transaction_verification_enable: bool = False,
    segment_jitter_ms: int = 0,
) -> LogConfig:
    """The config of one log. `segment_jitter_ms` is its random jitter, at most
    `segment.jitter.ms`."""
    codec = _CODECS.get(topic.compression_type)
    return LogConfig(
        segment_bytes=topic.segment_bytes,
        segment_ms=topic.segment_ms,
        segment_jitter_ms=segment_jitter_ms,
        segment_index_bytes=topic.segment_index_bytes,
        index_interval_bytes=topic.index_interval_bytes,
        preallocate=topic.preallocate,
        max_message_bytes=topic.max_message_bytes,
        message_timestamp_type=_TIMESTAMP_TYPES[topic.message_timestamp_type],
        message_timestamp_before_max_ms=topic.message_timestamp_before_max_ms,
        message_timestamp_after_max_ms=topic.message_timestamp_after_max_ms,
        validates_records=topic.record_validation == "record",
        schema_rules=schema_rules_of(topic) if topic.checks_schemas else None,
        delays=topic.delays,
        delay_ms=topic.delay_ms,
        delay_ms_max=topic.delay_ms_max,
        delay_records_max=topic.delay_records_max,
        delay_bytes_max=topic.delay_bytes_max,
        compression_type=codec,
        compression_level=_compression_level(topic, codec),
        delete=topic.deletes,
        compact=topic.compacts,
        retention_ms=topic.retention_ms,
        retention_bytes=topic.retention_bytes,
        delete_retention_ms=topic.delete_retention_ms,
        min_cleanable_dirty_ratio=topic.min_cleanable_dirty_ratio,
        min_compaction_lag_ms=topic.min_compaction_lag_ms,
        max_compaction_lag_ms=topic.max_compaction_lag_ms,
        file_delete_delay_ms=topic.file_delete_delay_ms,
        flush_messages=topic.flush_messages,
        flush_ms=topic.flush_ms,
        producer_id_expiration_ms=producer_id_expiration_ms,
        transaction_verification_enable=transaction_verification_enable,
    )


def schema_rules_of(topic: EffectiveTopicConfig) -> SchemaRules:
    return SchemaRules(
        PartRule(
            PayloadCheck(topic.key_schema_validation),
            SubjectNaming(topic.key_subject_name_strategy),
        ),
        PartRule(
            PayloadCheck(topic.value_schema_validation),
            SubjectNaming(topic.value_subject_name_strategy),
        ),
        topic.schema_context,
        topic.schema_dead_letter_topic,
    )


def _compression_level(topic: EffectiveTopicConfig, codec: Codec | None) -> int | None:
    if codec is Codec.GZIP:
        level = topic.compression_gzip_level
        return None if level == _GZIP_LEVEL_DEFAULT else level
    if codec is Codec.LZ4:
        return topic.compression_lz4_level
    return topic.compression_zstd_level if codec is Codec.ZSTD else None


class LogConfigs:
    """The log configs of topics for one version of the broker configs."""

    def __init__(self, node: NodeConfig, dice: Dice) -> None:
        self._node = node
        self._dice = dice
        # Shared by the logs of all topics without config overrides, which are most.
        self._default = self._of(node.topic_defaults)

    def of_topic(self, name: str, overrides: Mapping[str, str]) -> LogConfig:
        """The config for one log of a topic with these config overrides."""
        if not overrides and not self._node.topic_defaults.segment_jitter_ms:
            return self._default
        try:
            return self._of(self._node.topic_config(overrides))
        except InvalidConfigError as error:
            _log.warning("ignoring invalid configs of topic %s: %s", name, error.message)
            return self._of(self._node.topic_defaults)

    def _of(self, topic: EffectiveTopicConfig) -> LogConfig:
        jitter_ms = min(topic.segment_jitter_ms, topic.segment_ms)
        return log_config_of(
            topic,
            producer_id_expiration_ms=self._node.producer_id_expiration_ms,
            transaction_verification_enable=self._node.transaction_partition_verification_enable,
            segment_jitter_ms=self._dice.below(jitter_ms) if jitter_ms else 0,
        )
