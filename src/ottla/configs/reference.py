"""Generates docs/configs.md from the definitions; `make docs-configs` writes the file.

A test compares the file with this output, so that it is never stale.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Final

from ottla.configs.definition import ConfigDefinition, UpdateMode
from ottla.configs.definitions import (
    BROKER_CONFIGS,
    CLIENT_METRICS_CONFIGS,
    GROUP_CONFIGS,
    TOPIC_CONFIGS,
)
from ottla.configs.definitions.groups import GROUPS_CONFIGS
from ottla.configs.definitions.log import LOG_CONFIGS
from ottla.configs.definitions.metrics import METRICS_CONFIGS
from ottla.configs.definitions.network import NETWORK_CONFIGS
from ottla.configs.definitions.oauth import OAUTH_CONFIGS
from ottla.configs.definitions.quorum import QUORUM_CONFIGS
from ottla.configs.definitions.quotas import BROKER_QUOTA_CONFIGS, QUOTAS_CONFIGS
from ottla.configs.definitions.remote_storage import REMOTE_STORAGE_CONFIGS
from ottla.configs.definitions.replication import REPLICATION_CONFIGS
from ottla.configs.definitions.sasl import SASL_CONFIGS
from ottla.configs.definitions.security import SECURITY_CONFIGS
from ottla.configs.definitions.share_groups import SHARE_GROUPS_CONFIGS
from ottla.configs.definitions.tls import TLS_CONFIGS
from ottla.configs.definitions.transactions import TRANSACTIONS_CONFIGS
from ottla.configs.documentation import documentation
from ottla.configs.group_config import GROUP_SYNONYMS
from ottla.configs.resource import ConfigResourceType
from ottla.configs.status import Status
from ottla.configs.synonyms import TOPIC_SYNONYMS

_WIDTH: Final = 100
_BROKER: Final = ConfigResourceType.BROKER
_TOPIC: Final = ConfigResourceType.TOPIC
_GROUP: Final = ConfigResourceType.GROUP
_CLIENT_METRICS: Final = ConfigResourceType.CLIENT_METRICS

_SECTIONS: Final = (
    ("Topics", _TOPIC, tuple(TOPIC_CONFIGS.values())),
    ("Groups", _GROUP, tuple(GROUP_CONFIGS.values())),
    ("Client metrics", _CLIENT_METRICS, tuple(CLIENT_METRICS_CONFIGS.values())),
    ("Brokers: roles and the quorum of controllers", _BROKER, QUORUM_CONFIGS),
    ("Brokers: listeners and connections", _BROKER, NETWORK_CONFIGS),
    ("Brokers: logs", _BROKER, LOG_CONFIGS),
    ("Brokers: replication", _BROKER, REPLICATION_CONFIGS),
    ("Brokers: groups and their offsets", _BROKER, GROUPS_CONFIGS),
    ("Brokers: transactions and idempotent producers", _BROKER, TRANSACTIONS_CONFIGS),
    ("Brokers: quotas", _BROKER, (*QUOTAS_CONFIGS, *BROKER_QUOTA_CONFIGS)),
    ("Brokers: share groups", _BROKER, SHARE_GROUPS_CONFIGS),
    ("Brokers: tiered storage", _BROKER, REMOTE_STORAGE_CONFIGS),
    ("Brokers: TLS", _BROKER, TLS_CONFIGS),
    ("Brokers: SASL", _BROKER, SASL_CONFIGS),
    ("Brokers: OAuth", _BROKER, OAUTH_CONFIGS),
    ("Brokers: authorization, delegation tokens and the audit log", _BROKER, SECURITY_CONFIGS),
    ("Brokers: metrics and config providers", _BROKER, METRICS_CONFIGS),
)
_KINDS: Final = (
    ("Topics", _TOPIC),
    ("Groups", _GROUP),
    ("Client metrics", _CLIENT_METRICS),
    ("Brokers", _BROKER),
)

_INTRODUCTION: Final = """# Settings

<!-- Made by `make docs-configs` from src/ottla/configs. Edit the definitions instead. -->

Ottla knows every setting that Apache Kafka 4.3 has for brokers, topics, groups and client metrics,
so that Kafka's properties files and tools work. It does not honor all of them. Each setting has a
status:

- **effective**: Ottla does what the text says.
- **accepted without effect**: ignoring the setting does no harm. A node logs the names of those
  that are set to another value than the default, when it starts and when they are changed.
- **refused**: the setting promises something that Ottla does not have. A node does not start with a
  value other than the default, and says what to do.

Brokers have three kinds of settings:

- *static*: set in the properties file or with `ottla start --set`, and read when the node starts;
- *dynamic, per broker*: can also be set while the broker runs, for one broker;
- *dynamic, cluster-wide*: can also be set while brokers run, for one broker or for all.

Settings of topics, groups and client metrics are dynamic. Where they are not set, the broker's
setting that is named as their default applies. Names that begin with `ottla.` are Ottla's own.
Internal settings are for tests and experiments; DescribeConfigs shows them only where they are set.

A setting of TLS or SASL, and `max.connections`, can be written for one listener as
`listener.name.<listener>.<setting>` with the listener's name in lower case. Settings of one SASL
mechanism are written as `listener.name.<listener>.<mechanism>.<setting>`, for example
`listener.name.internal.scram-sha-512.sasl.jaas.config`. Other settings of one listener are accepted
without effect. While a node runs, keys and certificates can be set only for one listener of one
broker.

DescribeConfigs returns the texts below if the client asks for the documentation.
"""
_UPDATE_MODES: Final = {
    UpdateMode.READ_ONLY: "static",
    UpdateMode.PER_BROKER: "dynamic, per broker",
    UpdateMode.CLUSTER_WIDE: "dynamic, cluster-wide",
}


def reference() -> str:
    """The whole text of docs/configs.md."""
    return "\n".join((_INTRODUCTION, *_counts(), *_sections()))


def _counts() -> Iterator[str]:
    yield "| | " + " | ".join(status.value for status in Status) + " |"
    yield "|---" * (len(Status) + 1) + "|"
    for title, kind in _KINDS:
        counts = Counter(
            row.status for _, of_kind, rows in _SECTIONS if of_kind is kind for row in rows
        )
        yield f"| {title} | " + " | ".join(str(counts[status]) for status in Status) + " |"
    yield ""


def _sections() -> Iterator[str]:
    for title, kind, rows in _SECTIONS:
        yield f"## {title}\n"
        for definition in sorted(rows, key=lambda row: row.name):
            yield f"### `{definition.name}`\n"
            yield from wrap(f"{documentation(kind, definition.name)}", _WIDTH)
            yield f"\n{' · '.join(_facts(kind, definition))}\n"


def _facts(kind: ConfigResourceType, definition: ConfigDefinition) -> Iterator[str]:
    yield definition.type.name.lower()
    yield f"default {_default(kind, definition)}"
    valid = str(definition.validator or "")
    if valid:
        yield f"valid values `{valid}`"
    yield f"{kind.name.lower().replace('_', ' ')}, {_update_mode(kind, definition)}"
    if definition.is_internal:
        yield "internal"
    yield f"**{definition.status.value}**"


def _default(kind: ConfigResourceType, definition: ConfigDefinition) -> str:
    if definition.is_required:
        return "none; required except on the only node of a cluster"
    text = definition.default_text
    value = "none" if text is None else f"`{text}`" if text else "empty"
    synonyms = ", ".join(f"`{name}`" for name in _broker_defaults(kind, definition.name))
    return f"{value}, or the broker's {synonyms}" if synonyms else value


def _broker_defaults(kind: ConfigResourceType, name: str) -> Iterable[str]:
    if kind is _TOPIC:
        return (synonym.name for synonym in TOPIC_SYNONYMS.get(name, ()))
    synonym = GROUP_SYNONYMS.get(name) if kind is _GROUP else None
    return () if synonym is None else (synonym,)


def _update_mode(kind: ConfigResourceType, definition: ConfigDefinition) -> str:
    if kind is not _BROKER:
        return "dynamic"
    mode = _UPDATE_MODES[definition.update_mode]
    return mode if definition.name in BROKER_CONFIGS else f"{mode}, never in the properties"


if __name__ == "__main__":
    sys.stdout.write(reference())
