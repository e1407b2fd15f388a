"""The node's configs for the group coordinator."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.configs.setting import Setting
from ottla.configs.value import ConfigValue, ConfigValues


@dataclass(frozen=True, slots=True)
class GroupSettings:
    values: ConfigValues

    def __getitem__(self, name: str) -> ConfigValue:
        return self.values[name]

    min_session_timeout_ms = Setting[int]("group.min.session.timeout.ms")
    max_session_timeout_ms = Setting[int]("group.max.session.timeout.ms")
    initial_rebalance_delay_ms = Setting[int]("group.initial.rebalance.delay.ms")
    max_size = Setting[int]("group.max.size")

    consumer_max_size = Setting[int]("group.consumer.max.size")
    consumer_assignors = Setting[tuple[str, ...]]("group.consumer.assignors")
    consumer_migration_policy = Setting[str]("group.consumer.migration.policy")

    share_max_size = Setting[int]("group.share.max.size")
    share_initialize_retry_ms = Setting[int]("group.share.initialize.retry.interval.ms")

    offset_metadata_max_bytes = Setting[int]("offset.metadata.max.bytes")
    offsets_retention_minutes = Setting[int]("offsets.retention.minutes")

    @property
    def offsets_retention_ms(self) -> int:
        return self.offsets_retention_minutes * 60_000
