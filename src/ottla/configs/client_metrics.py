"""A subscription to client metrics (KIP-714): which clients push which metrics, and how often."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ottla.configs.definitions import CLIENT_METRICS_CONFIGS
from ottla.configs.errors import InvalidConfigError
from ottla.configs.value import ConfigValue
from ottla.model import ErrorCode, KafkaError

ALL_METRICS: Final = "*"
PUSH_INTERVAL_MS_DEFAULT: Final = 300_000
_PUSH_INTERVAL_MS_MIN: Final = 100
_PUSH_INTERVAL_MS_MAX: Final = 3_600_000
_PARAMETERS: Final = frozenset(
    {
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)
# A longer value matches no pattern: a client chooses it, and regular expressions may be slow.
_VALUE_LENGTH_MAX: Final = 255


@dataclass(frozen=True, slots=True)
class ClientMetricsSubscription:
    metrics: tuple[str, ...]
    push_interval_ms: int
    patterns: Mapping[str, re.Pattern[str]]

    @classmethod
    def of(cls, configs: Mapping[str, str]) -> ClientMetricsSubscription:
        """Raises KafkaError if the configs are not valid, as Kafka does."""
        unknown = configs.keys() - CLIENT_METRICS_CONFIGS.keys()
        if unknown:
            raise _invalid(f"Unknown client metrics configuration: {min(unknown)}")
        values: dict[str, ConfigValue] = {
            name: definition.parse(configs[name]) if name in configs else definition.default
            for name, definition in CLIENT_METRICS_CONFIGS.items()
        }
        interval_ms, metrics, match = values["interval.ms"], values["metrics"], values["match"]
        assert isinstance(interval_ms, int)
        assert isinstance(metrics, tuple)
        assert isinstance(match, tuple)
        if not _PUSH_INTERVAL_MS_MIN <= interval_ms <= _PUSH_INTERVAL_MS_MAX:
            raise _invalid(
                f"Invalid value {interval_ms} for interval.ms, interval must be between "
                f"{_PUSH_INTERVAL_MS_MIN} and {_PUSH_INTERVAL_MS_MAX} (1 hour)"
            )
        return cls(metrics, interval_ms, dict(map(_pattern, match)))

    def matches(self, client: Mapping[str, str]) -> bool:
        """`client` has the parameters that are known of it."""
        return all(
            name in client
            and len(client[name]) <= _VALUE_LENGTH_MAX
            and pattern.fullmatch(client[name]) is not None
            for name, pattern in self.patterns.items()
        )


def validate_client_metrics_configs(name: str, configs: Mapping[str, str]) -> None:
    """Raises KafkaError if a subscription may not have these configs."""
    if not name:
        raise _invalid("Subscription name can't be empty")
    ClientMetricsSubscription.of(configs)


def _pattern(text: str) -> tuple[str, re.Pattern[str]]:
    name, separator, pattern = (each.strip() for each in text.partition("="))
    if not separator or not pattern or "=" in pattern or name not in _PARAMETERS:
        raise _illegal(
            text, f"it must be NAME=PATTERN with one of {', '.join(sorted(_PARAMETERS))}"
        )
    try:
        return name, re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise _illegal(text, str(error)) from None


def _illegal(pattern: str, reason: str) -> InvalidConfigError:
    return InvalidConfigError(f"Illegal client matching pattern: {pattern} ({reason})")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
