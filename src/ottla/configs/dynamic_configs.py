"""Checks each config of a dynamic broker update by itself (KIP-226)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.configs.definition import UpdateMode
from ottla.configs.definitions import (
    BROKER_CONFIGS,
    DYNAMIC_BROKER_CONFIGS,
    DYNAMIC_SECURITY_CONFIGS,
)
from ottla.configs.errors import InvalidConfigError
from ottla.configs.support import refusal_of
from ottla.configs.synonyms import listener_base_name

NOT_DYNAMIC: Final = "Cannot update these configs dynamically"
ONLY_PER_LISTENER: Final = (
    "These security configs can be updated dynamically only for one listener, "
    "as listener.name.<listener>.<config>"
)
ONLY_PER_BROKER: Final = "Cannot update these configs for the whole cluster, name a broker"

# These configs of a single listener can also be set for the whole cluster.
_CLUSTER_WIDE_LISTENER_CONFIGS: Final = frozenset(
    {"max.connections", "max.connection.creation.rate", "num.network.threads"}
)


def dynamic_refusals(configs: Mapping[str, str], *, per_broker: bool) -> dict[str, str]:
    """The names that cannot be set dynamically for a broker (or the whole cluster), with reasons.

    Unknown names are accepted: they may belong to a plugin.
    """
    refusals = {}
    for name, text in configs.items():
        reason = _refusal(name, text, per_broker=per_broker)
        if reason is not None:
            refusals[name] = reason
    return refusals


def _refusal(name: str, text: str, *, per_broker: bool) -> str | None:
    refusal = refusal_of(name, text)
    if refusal is not None:
        return refusal.reason
    if name in BROKER_CONFIGS and name not in DYNAMIC_BROKER_CONFIGS:
        return NOT_DYNAMIC
    if name in DYNAMIC_SECURITY_CONFIGS:
        return ONLY_PER_LISTENER
    base = listener_base_name(name)
    definition = DYNAMIC_BROKER_CONFIGS.get(name if base is None else base)
    if definition is not None:
        try:
            definition.parse(text)
        except InvalidConfigError as error:
            return error.message
    if per_broker:
        return None
    if base is None:
        is_per_broker = definition is not None and definition.update_mode is UpdateMode.PER_BROKER
    else:
        is_per_broker = base not in _CLUSTER_WIDE_LISTENER_CONFIGS
    return ONLY_PER_BROKER if is_per_broker else None
