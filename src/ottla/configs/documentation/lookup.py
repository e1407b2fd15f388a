"""Looks up a config's documentation by resource type and name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.configs.definition import ConfigDefinition
from ottla.configs.documentation.client_metrics import CLIENT_METRICS_TEXTS
from ottla.configs.documentation.group_overrides import GROUP_TEXTS
from ottla.configs.documentation.groups import GROUPS_TEXTS
from ottla.configs.documentation.log import LOG_TEXTS
from ottla.configs.documentation.metrics import METRICS_TEXTS
from ottla.configs.documentation.network import NETWORK_TEXTS
from ottla.configs.documentation.oauth import OAUTH_TEXTS
from ottla.configs.documentation.quorum import QUORUM_TEXTS
from ottla.configs.documentation.quotas import QUOTAS_TEXTS
from ottla.configs.documentation.remote_storage import REMOTE_STORAGE_TEXTS
from ottla.configs.documentation.replication import REPLICATION_TEXTS
from ottla.configs.documentation.sasl import SASL_TEXTS
from ottla.configs.documentation.security import SECURITY_TEXTS
from ottla.configs.documentation.share_groups import SHARE_GROUPS_TEXTS
from ottla.configs.documentation.tls import TLS_TEXTS
from ottla.configs.documentation.topic import TOPIC_TEXTS
from ottla.configs.documentation.transactions import TRANSACTIONS_TEXTS
from ottla.configs.resource import RESOURCE_DEFINITIONS, ConfigResourceType
from ottla.configs.status import Status
from ottla.configs.synonyms import broker_definition

_BROKER_TEXTS: Final = {
    **LOG_TEXTS,
    **NETWORK_TEXTS,
    **QUORUM_TEXTS,
    **REPLICATION_TEXTS,
    **GROUPS_TEXTS,
    **SHARE_GROUPS_TEXTS,
    **TRANSACTIONS_TEXTS,
    **REMOTE_STORAGE_TEXTS,
    **OAUTH_TEXTS,
    **SASL_TEXTS,
    **SECURITY_TEXTS,
    **TLS_TEXTS,
    **QUOTAS_TEXTS,
    **METRICS_TEXTS,
}
TEXTS: Final[Mapping[ConfigResourceType, Mapping[str, str]]] = {
    ConfigResourceType.BROKER: _BROKER_TEXTS,
    ConfigResourceType.TOPIC: TOPIC_TEXTS,
    ConfigResourceType.GROUP: GROUP_TEXTS,
    ConfigResourceType.CLIENT_METRICS: CLIENT_METRICS_TEXTS,
}
_WITHOUT_EFFECT: Final = " Ottla accepts this setting without effect."
_REFUSED: Final = " Ottla does not support this and refuses any value except the default"


def documentation(kind: ConfigResourceType, name: str) -> str | None:
    """The config's documentation and its status in Ottla; None for an unknown name."""
    definition = _definition(kind, name)
    if definition is None:
        return None
    return TEXTS[kind][definition.name] + _status_text(definition)


def _status_text(definition: ConfigDefinition) -> str:
    if definition.status is Status.WITHOUT_EFFECT:
        return _WITHOUT_EFFECT
    if definition.refusal is None:
        return ""
    return f"{_REFUSED}{''.join(f' or {value}' for value in definition.refusal.accepted)}."


def _definition(kind: ConfigResourceType, name: str) -> ConfigDefinition | None:
    if kind is ConfigResourceType.BROKER:
        return broker_definition(name)
    return RESOURCE_DEFINITIONS.get(kind, {}).get(name)
