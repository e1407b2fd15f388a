"""The node's configs for the transaction coordinator."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.configs.setting import Setting
from ottla.configs.value import ConfigValue, ConfigValues


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    values: ConfigValues

    def __getitem__(self, name: str) -> ConfigValue:
        return self.values[name]

    max_timeout_ms = Setting[int]("transaction.max.timeout.ms")
    id_expiration_ms = Setting[int]("transactional.id.expiration.ms")
    two_phase_commit_enable = Setting[bool]("transaction.two.phase.commit.enable")
