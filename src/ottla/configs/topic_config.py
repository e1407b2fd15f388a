"""A topic's effective configs: its own, or else the broker's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ottla.configs.definitions import TOPIC_CONFIGS
from ottla.configs.setting import Setting
from ottla.configs.synonyms import TOPIC_SYNONYMS, BrokerSynonym
from ottla.configs.value import ConfigValue, ConfigValues

UNLIMITED: Final = -1
AS_RETENTION: Final = -2
_NO_CHECK: Final = "none"


def topic_defaults(broker: ConfigValues) -> dict[str, ConfigValue]:
    """The values of a topic without overrides, for these broker configs."""
    values = {name: definition.default for name, definition in TOPIC_CONFIGS.items()}
    for name, synonyms in TOPIC_SYNONYMS.items():
        values[name] = _first_value(synonyms, broker)
    retention_ms = values["retention.ms"]
    assert isinstance(retention_ms, int)
    # Any negative time means unlimited for a broker, but only -1 for a topic.
    values["retention.ms"] = max(retention_ms, UNLIMITED)
    return values


def _first_value(synonyms: tuple[BrokerSynonym, ...], broker: ConfigValues) -> ConfigValue:
    for name, factor in synonyms:
        value = broker[name]
        if value is not None:
            if factor == 1:
                return value
            assert isinstance(value, int)
            return value * factor
    raise AssertionError(f"none of {synonyms} has a default")


@dataclass(frozen=True, slots=True)
class EffectiveTopicConfig:
    """Typed values as items and attributes, parsed once. Immutable.

    `overrides` are the topic's own texts, including unknown names: they may come from a cluster
    that defined them. All topics share one mapping of defaults.
    """

    overrides: Mapping[str, str]
    own: ConfigValues = field(repr=False)
    defaults: ConfigValues = field(repr=False)

    @classmethod
    def of(cls, overrides: Mapping[str, str], *, defaults: ConfigValues) -> EffectiveTopicConfig:
        """Raises InvalidConfigError for an invalid value."""
        own = {
            name: definition.parse(text)
            for name, text in overrides.items()
            if (definition := TOPIC_CONFIGS.get(name)) is not None
        }
        return cls(overrides, own, defaults)

    def __getitem__(self, name: str) -> ConfigValue:
        own = self.own
        return own[name] if name in own else self.defaults[name]

    cleanup_policy = Setting[tuple[str, ...]]("cleanup.policy")
    compression_gzip_level = Setting[int]("compression.gzip.level")
    compression_lz4_level = Setting[int]("compression.lz4.level")
    compression_type = Setting[str]("compression.type")
    compression_zstd_level = Setting[int]("compression.zstd.level")
    delete_retention_ms = Setting[int]("delete.retention.ms")
    file_delete_delay_ms = Setting[int]("file.delete.delay.ms")
    flush_messages = Setting[int]("flush.messages")
    flush_ms = Setting[int]("flush.ms")
    index_interval_bytes = Setting[int]("index.interval.bytes")
    max_compaction_lag_ms = Setting[int]("max.compaction.lag.ms")
    max_message_bytes = Setting[int]("max.message.bytes")
    message_timestamp_after_max_ms = Setting[int]("message.timestamp.after.max.ms")
    message_timestamp_before_max_ms = Setting[int]("message.timestamp.before.max.ms")
    message_timestamp_type = Setting[str]("message.timestamp.type")
    min_cleanable_dirty_ratio = Setting[float]("min.cleanable.dirty.ratio")
    min_compaction_lag_ms = Setting[int]("min.compaction.lag.ms")
    min_insync_replicas = Setting[int]("min.insync.replicas")
    takes_dead_letters = Setting[bool]("errors.deadletterqueue.group.enable")
    is_protected = Setting[bool]("ottla.delete.protection")
    deleted_retention_ms = Setting[int]("ottla.delete.retention.ms")
    delays = Setting[bool]("ottla.delivery.delay.enable")
    delay_ms = Setting[int]("ottla.delivery.delay.ms")
    delay_ms_max = Setting[int]("ottla.delivery.delay.max.ms")
    delay_records_max = Setting[int]("ottla.delivery.delay.records.max")
    delay_bytes_max = Setting[int]("ottla.delivery.delay.bytes.max")
    record_validation = Setting[str]("ottla.record.validation")
    key_schema_validation = Setting[str]("ottla.key.schema.validation")
    key_subject_name_strategy = Setting[str]("ottla.key.subject.name.strategy")
    schema_context = Setting[str]("ottla.schema.context")
    schema_dead_letter_topic = Setting[str]("ottla.schema.deadletterqueue.topic.name")
    value_schema_validation = Setting[str]("ottla.value.schema.validation")
    value_subject_name_strategy = Setting[str]("ottla.value.subject.name.strategy")
    preallocate = Setting[bool]("preallocate")
    remote_log_copy_disable = Setting[bool]("remote.log.copy.disable")
    remote_log_delete_on_disable = Setting[bool]("remote.log.delete.on.disable")
    remote_storage_enable = Setting[bool]("remote.storage.enable")
    retention_bytes = Setting[int]("retention.bytes")
    retention_ms = Setting[int]("retention.ms")
    segment_index_bytes = Setting[int]("segment.index.bytes")
    segment_jitter_ms = Setting[int]("segment.jitter.ms")
    segment_ms = Setting[int]("segment.ms")
    unclean_leader_election_enable = Setting[bool]("unclean.leader.election.enable")
    _internal_segment_bytes = Setting[int | None]("internal.segment.bytes")
    _local_retention_bytes = Setting[int]("local.retention.bytes")
    _local_retention_ms = Setting[int]("local.retention.ms")
    _segment_bytes = Setting[int]("segment.bytes")

    @property
    def segment_bytes(self) -> int:
        """The internal config, which tests set to small values, overrides `segment.bytes`."""
        internal = self._internal_segment_bytes
        return self._segment_bytes if internal is None else internal

    @property
    def local_retention_bytes(self) -> int:
        local = self._local_retention_bytes
        return self.retention_bytes if local == AS_RETENTION else local

    @property
    def local_retention_ms(self) -> int:
        local = self._local_retention_ms
        return self.retention_ms if local == AS_RETENTION else local

    @property
    def checks_schemas(self) -> bool:
        return self.key_schema_validation != _NO_CHECK or self.value_schema_validation != _NO_CHECK

    @property
    def compacts(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def deletes(self) -> bool:
        return "delete" in self.cleanup_policy
