"""All tables of broker configs combined."""

from __future__ import annotations

from itertools import chain
from typing import Final

from ottla.configs.definition import Definitions, definitions
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
from ottla.configs.definitions.security import NODE_SECURITY_CONFIGS, SECURITY_CONFIGS
from ottla.configs.definitions.share_groups import SHARE_GROUPS_CONFIGS
from ottla.configs.definitions.tls import TLS_CONFIGS
from ottla.configs.definitions.transactions import TRANSACTIONS_CONFIGS

# The configs that a broker's properties file can contain.
BROKER_CONFIGS: Final[Definitions] = definitions(
    chain(
        LOG_CONFIGS,
        NETWORK_CONFIGS,
        QUORUM_CONFIGS,
        REPLICATION_CONFIGS,
        GROUPS_CONFIGS,
        SHARE_GROUPS_CONFIGS,
        TRANSACTIONS_CONFIGS,
        REMOTE_STORAGE_CONFIGS,
        OAUTH_CONFIGS,
        SASL_CONFIGS,
        SECURITY_CONFIGS,
        TLS_CONFIGS,
        QUOTAS_CONFIGS,
        METRICS_CONFIGS,
    )
)
# The configs that can be set dynamically; some of them cannot be set in the file.
DYNAMIC_BROKER_CONFIGS: Final[Definitions] = definitions(
    chain(
        (definition for definition in BROKER_CONFIGS.values() if definition.is_dynamic),
        BROKER_QUOTA_CONFIGS,
    )
)
# A listener's keys and certificates, which can be set dynamically only for one listener.
DYNAMIC_SECURITY_CONFIGS: Final = frozenset(
    {
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
# Security configs of the whole node, which no listener can have for itself.
NODE_SECURITY_NAMES: Final = frozenset(definition.name for definition in NODE_SECURITY_CONFIGS)
# What one listener can have for itself: TLS, SASL, and its own number of connections.
LISTENER_CONFIGS: Final = frozenset(
    definition.name
    for definition in (*OAUTH_CONFIGS, *SASL_CONFIGS, *SECURITY_CONFIGS, *TLS_CONFIGS)
    if definition.name not in NODE_SECURITY_NAMES
) | {
    "connection.failed.authentication.delay.ms",
    "max.connection.creation.rate",
    "max.connections",
}
