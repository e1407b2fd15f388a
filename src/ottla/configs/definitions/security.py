"""TLS, principals, authorization and delegation tokens."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    LOW,
    PER_BROKER,
    boolean,
    int64,
    java_class,
    password,
    refused,
    string,
    strings,
)
from ottla.configs.status import NO_SECURITY
from ottla.configs.validators import at_least, list_of, one_of

SECURITY_CONFIGS: Final = refused(
    NO_SECURITY,
    string("authorizer.class.name", "", LOW),
    int64("connections.max.reauth.ms", 0),
    int64("delegation.token.expiry.check.interval.ms", 3_600_000, at_least(1), LOW),
    int64("delegation.token.expiry.time.ms", 86_400_000, at_least(1)),
    int64("delegation.token.max.lifetime.ms", 604_800_000, at_least(1)),
    password("delegation.token.secret.key"),
    java_class(
        "principal.builder.class",
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        PER_BROKER,
    ),
    string("security.providers", None, LOW),
    boolean("ssl.allow.dn.changes", False, LOW),
    boolean("ssl.allow.san.changes", False, LOW),
    strings("ssl.cipher.suites", (), list_of(), PER_BROKER),
    string("ssl.client.auth", "none", one_of("required", "requested", "none"), PER_BROKER),
    strings("ssl.enabled.protocols", ("TLSv1.2", "TLSv1.3"), list_of(), PER_BROKER),
    string("ssl.endpoint.identification.algorithm", "https", LOW, PER_BROKER),
    java_class("ssl.engine.factory.class", None, LOW, PER_BROKER),
    password("ssl.key.password", PER_BROKER),
    string("ssl.keymanager.algorithm", "SunX509", PER_BROKER),
    password("ssl.keystore.certificate.chain", PER_BROKER),
    password("ssl.keystore.key", PER_BROKER),
    string("ssl.keystore.location", None, PER_BROKER),
    password("ssl.keystore.password", PER_BROKER),
    string("ssl.keystore.type", "JKS", PER_BROKER),
    string("ssl.principal.mapping.rules", "DEFAULT", LOW),
    string("ssl.protocol", "TLSv1.3", PER_BROKER),
    string("ssl.provider", None, PER_BROKER),
    string("ssl.secure.random.implementation", None, LOW, PER_BROKER),
    string("ssl.trustmanager.algorithm", "PKIX", PER_BROKER),
    password("ssl.truststore.certificates", PER_BROKER),
    string("ssl.truststore.location", None, PER_BROKER),
    password("ssl.truststore.password", PER_BROKER),
    string("ssl.truststore.type", "JKS", PER_BROKER),
)
