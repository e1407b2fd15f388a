"""The node's configs for the share coordinator."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.configs.setting import Setting
from ottla.configs.value import ConfigValue, ConfigValues


@dataclass(frozen=True, slots=True)
class ShareSettings:
    values: ConfigValues

    def __getitem__(self, name: str) -> ConfigValue:
        return self.values[name]

    updates_per_snapshot = Setting[int]("share.coordinator.snapshot.update.records.per.snapshot")
    cold_interval_ms = Setting[int]("share.coordinator.cold.partition.snapshot.interval.ms")
