"""The error for an invalid config."""

from __future__ import annotations

from ottla.model import ErrorCode, KafkaError


class InvalidConfigError(KafkaError):
    """An invalid config name or value. The message names the config and the allowed values."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.INVALID_CONFIG, message)

    @classmethod
    def of_value(cls, name: str, value: object, *, reason: str) -> InvalidConfigError:
        return cls(f"Invalid value {value} for configuration {name}: {reason}")
