"""Authorization, delegation tokens, the audit log, and principals."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    LOW,
    PER_BROKER,
    boolean,
    int32,
    int64,
    java_class,
    password,
    string,
    strings,
)
from ottla.configs.status import NO_JAVA_CLASSES, NO_JAVA_PROVIDERS
from ottla.configs.validators import at_least

_MIB: Final = 1024 * 1024

# These apply to the whole node, never to a single listener.
NODE_SECURITY_CONFIGS: Final = (
    string("authorizer.class.name", "", LOW),
    # Kafka's StandardAuthorizer reads these two; its table of broker configs does not list them.
    boolean("allow.everyone.if.no.acl.found", False),
    string("super.users", ""),
    int64("delegation.token.expiry.check.interval.ms", 3_600_000, at_least(1), LOW),
    int64("delegation.token.expiry.time.ms", 86_400_000, at_least(1)),
    int64("delegation.token.max.lifetime.ms", 604_800_000, at_least(1)),
    password("delegation.token.secret.key"),
    string("ottla.audit.log", ""),
    int64("ottla.audit.log.bytes.max", 100 * _MIB, at_least(_MIB)),
    int32("ottla.audit.log.files.max", 10, at_least(1)),
    int32("ottla.pre.auth.timeout.ms", 10_000, at_least(1)),
    strings("ottla.tenant.listeners", ()),
    string("security.providers", None, LOW, NO_JAVA_PROVIDERS),
)
SECURITY_CONFIGS: Final = (
    *NODE_SECURITY_CONFIGS,
    int64("connections.max.reauth.ms", 0),
    java_class(
        "principal.builder.class",
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        PER_BROKER,
        NO_JAVA_CLASSES,
    ),
)
