"""Validates dynamic configs of running brokers before they are stored.

As in Kafka, the error is INVALID_REQUEST, while topic configs get INVALID_CONFIG (KAFKA-13609):
tools depend on the difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ottla.configs.dynamic_configs import dynamic_refusals
from ottla.configs.errors import InvalidConfigError
from ottla.configs.listener_security import ListenerSecurity
from ottla.configs.node_config import NodeConfig
from ottla.model import ErrorCode, KafkaError

# Kafka limits how far one change may resize a thread pool.
_THREAD_COUNTS: Final = (
    "background.threads",
    "log.cleaner.threads",
    "num.io.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
)
# With 0, no client could connect to undo the change.
_CONNECTION_COUNTS: Final = ("max.connections", "max.connection.creation.rate")


def validate_broker_configs(
    configs: Mapping[str, str], *, node: NodeConfig, per_broker: bool
) -> NodeConfig:
    """The config of `node` with these dynamic configs instead of its current ones.

    With `per_broker` they are this broker's own configs, otherwise those of all brokers.
    Raises KafkaError if they cannot replace the current ones.
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
            "set them in its properties and restart it",
        )
    for name, security in proposed.listener_security.items():
        _validate_listener_security(name, node.listener_security[name], security)
    return proposed


def validate_dynamic_configs(configs: Mapping[str, str], *, per_broker: bool) -> None:
    """Raises KafkaError if no broker can have these configs, regardless of its other configs."""
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
            f"{name}={proposed} is too far from {current}: on a running broker, the number of "
            f"threads can be halved or doubled at most, to {least} to {most}",
        )


def _validate_listener_security(
    name: str, current: ListenerSecurity, proposed: ListenerSecurity
) -> None:
    """As in Kafka, an existing listener can only replace its key store and its trust store."""
    if _without_stores(current) != _without_stores(proposed):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"The security of listener {name} cannot change while the broker runs, except its key "
            "store and its trust store: set it in the broker's properties and start it anew",
        )
    if current.tls is None or proposed.tls is None:
        return
    for store, before, after in (
        ("key store", current.tls.keystore, proposed.tls.keystore),
        ("trust store", current.tls.truststore, proposed.tls.truststore),
    ):
        if (before is None) != (after is None):
            change = "removed from" if after is None else "added to"
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"A {store} cannot be {change} listener {name} while the broker runs: change it in "
                "the broker's properties and start it anew",
            )


def _without_stores(security: ListenerSecurity) -> ListenerSecurity:
    if security.tls is None:
        return security
    return replace(security, tls=replace(security.tls, keystore=None, truststore=None))
