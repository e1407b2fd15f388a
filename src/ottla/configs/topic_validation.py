"""Validates a topic's configs before they are stored."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.configs.definitions import TOPIC_CONFIGS
from ottla.configs.errors import InvalidConfigError
from ottla.configs.node_config import NodeConfig
from ottla.configs.topic_config import AS_RETENTION, UNLIMITED, EffectiveTopicConfig
from ottla.schemas.packages import missing_packages, missing_text


def validate_topic_configs(
    overrides: Mapping[str, str], *, existing: Mapping[str, str], node: NodeConfig
) -> None:
    """Raises InvalidConfigError if `overrides` cannot replace a topic's `existing` configs."""
    for name in overrides:
        if name not in TOPIC_CONFIGS:
            raise InvalidConfigError(f"Unknown topic config name: {name}")
    config = node.topic_config(overrides)
    if config.min_compaction_lag_ms > config.max_compaction_lag_ms:
        raise InvalidConfigError(
            f"min.compaction.lag.ms ({config.min_compaction_lag_ms}) must not be more than "
            f"max.compaction.lag.ms ({config.max_compaction_lag_ms})"
        )
    _validate_schema_checks(config)
    _validate_delays(config, existing)
    if config.remote_storage_enable:
        _validate_remote_storage(config, system_enabled=node.remote_log_storage_system_enable)
    elif _had_remote_storage(existing) and not config.remote_log_delete_on_disable:
        raise InvalidConfigError(
            "remote.storage.enable cannot become false while remote data is kept: set "
            "remote.log.delete.on.disable=true to delete it, or leave remote.storage.enable=true "
            "and set remote.log.copy.disable=true to only read it"
        )


def _validate_schema_checks(config: EffectiveTopicConfig) -> None:
    """A node without the packages would refuse every record."""
    if config.checks_schemas and (missing := missing_packages()):
        raise InvalidConfigError(missing_text(missing))


def _validate_delays(config: EffectiveTopicConfig, existing: Mapping[str, str]) -> None:
    if not config.delays:
        if existing.get("ottla.delivery.delay.enable", "").lower() == "true":
            raise InvalidConfigError(
                "ottla.delivery.delay.enable cannot be switched off: held records would be "
                "delivered before they are due. Create another topic instead"
            )
        if config.delay_ms:
            raise InvalidConfigError(
                "ottla.delivery.delay.ms needs ottla.delivery.delay.enable=true"
            )
    elif config.compacts:
        raise InvalidConfigError(
            "ottla.delivery.delay.enable=true needs cleanup.policy=delete: compaction would remove "
            "held records with the key of a later one"
        )
    elif config.delay_ms > config.delay_ms_max:
        raise InvalidConfigError(
            f"ottla.delivery.delay.ms ({config.delay_ms}) must not be more than "
            f"ottla.delivery.delay.max.ms ({config.delay_ms_max})"
        )


def _had_remote_storage(existing: Mapping[str, str]) -> bool:
    return existing.get("remote.storage.enable", "").lower() == "true"


def _validate_remote_storage(config: EffectiveTopicConfig, *, system_enabled: bool) -> None:
    if not system_enabled:
        raise InvalidConfigError(
            "remote.storage.enable=true needs tiered storage, which is disabled in the broker: "
            "set remote.log.storage.system.enable=true there"
        )
    if config.cleanup_policy not in ((), ("delete",)):
        raise InvalidConfigError(
            "remote.storage.enable=true needs cleanup.policy to be delete or empty, "
            f"and it is {','.join(config.cleanup_policy)}"
        )
    for unit in ("bytes", "ms"):
        _validate_local_retention(config, unit=unit)


def _validate_local_retention(config: EffectiveTopicConfig, *, unit: str) -> None:
    """Local retention must not exceed the total retention, and must equal it if copying to remote
    storage is disabled."""
    name = f"local.retention.{unit}"
    local, whole = config[name], config[f"retention.{unit}"]
    assert isinstance(local, int)
    assert isinstance(whole, int)
    if local == AS_RETENTION:
        return
    reason = None
    if whole > UNLIMITED and local == UNLIMITED:
        reason = f"Value must not be -1 as retention.{unit} is {whole}"
    elif whole > UNLIMITED and local > whole:
        reason = f"Value must not be more than retention.{unit}, which is {whole}"
    elif config.remote_log_copy_disable and local != whole:
        reason = (
            f"Value must be equal to retention.{unit}, which is {whole}, because "
            "remote.log.copy.disable=true stops copying to remote storage"
        )
    if reason is not None:
        raise InvalidConfigError.of_value(name, local, reason=reason)
