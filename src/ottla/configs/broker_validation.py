"""Whether a running broker can be given other dynamic configs, checked before they are stored.

Kafka answers INVALID_REQUEST here where a topic's configs get INVALID_CONFIG (KAFKA-13609), and so
do we: tools know the difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.configs.dynamic_configs import dynamic_refusals
from ottla.configs.errors import InvalidConfigError
from ottla.configs.node_config import NodeConfig
from ottla.model import ErrorCode, KafkaError

# Kafka lets pools of threads grow and shrink in steps.
_THREAD_COUNTS: Final = (
    "background.threads",
    "log.cleaner.threads",
    "num.io.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
)
# With 0, no client could connect again to undo it.
_CONNECTION_COUNTS: Final = ("max.connections", "max.connection.creation.rate")


def validate_broker_configs(
    configs: Mapping[str, str], *, node: NodeConfig, per_broker: bool
) -> None:
    """Raises KafkaError if `node` cannot get these dynamic configs in place of those it has.

    They are this broker's own, or (not `per_broker`) those of all brokers.
    """
    validate_dynamic_configs(configs, per_broker=per_broker)
    layers = node.layers
    try:
        proposed = node.with_dynamic(
            cluster=layers.dynamic_default if per_broker else configs,
            broker=configs if per_broker else layers.dynamic_broker,
        )
    except InvalidConfigError as error:
        raise KafkaError(ErrorCode.INVALID_REQUEST, error.message) from None
    for name in _THREAD_COUNTS:
        _validate_thread_count(name, current=node[name], proposed=proposed[name])
    for name in _CONNECTION_COUNTS:
        if proposed[name] == 0 and node[name] != 0:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"{name} of a running broker must be at least 1"
            )
    if proposed.listeners != node.listeners:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "listeners and listener.security.protocol.map cannot change while the broker runs: "
            "set them in its properties and start it anew",
        )


def validate_dynamic_configs(configs: Mapping[str, str], *, per_broker: bool) -> None:
    """Raises KafkaError if there is no broker that can get these, whatever it has now."""
    refusals = dynamic_refusals(configs, per_broker=per_broker)
    if refusals:
        reason = next(iter(refusals.values()))
        names = sorted(name for name, same in refusals.items() if same == reason)
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{reason}: {', '.join(names)}")


def _validate_thread_count(name: str, *, current: object, proposed: object) -> None:
    assert isinstance(current, int)
    assert isinstance(proposed, int)
    least, most = max(current // 2, 1), current * 2
    if not least <= proposed <= most:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"{name}={proposed} is too far from {current}: a running broker can have from half "
            f"to double as many threads, {least} to {most}",
        )
