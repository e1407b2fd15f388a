"""TLS: certificates, keys, versions and ciphers."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    LOW,
    PER_BROKER,
    boolean,
    java_class,
    password,
    string,
    strings,
)
from ottla.configs.status import (
    NO_JAVA_CLASSES,
    NO_JAVA_PROVIDERS,
    NO_TRUST_MANAGERS,
    WITHOUT_EFFECT,
)
from ottla.configs.validators import list_of, one_of

TLS_CONFIGS: Final = (
    string("ottla.ssl.crl.location", None),
    boolean("ssl.allow.dn.changes", False, LOW, WITHOUT_EFFECT),
    boolean("ssl.allow.san.changes", False, LOW, WITHOUT_EFFECT),
    strings("ssl.cipher.suites", (), list_of(), PER_BROKER),
    string("ssl.client.auth", "none", one_of("required", "requested", "none"), PER_BROKER),
    strings("ssl.enabled.protocols", ("TLSv1.2", "TLSv1.3"), list_of(), PER_BROKER),
    string("ssl.endpoint.identification.algorithm", "https", LOW, PER_BROKER),
    java_class(
        "ssl.engine.factory.class",
        None,
        LOW,
        PER_BROKER,
        NO_JAVA_CLASSES.accepting(
            "org.apache.kafka.common.security.ssl.DefaultSslEngineFactory",
        ),
    ),
    password("ssl.key.password", PER_BROKER),
    string("ssl.keymanager.algorithm", "SunX509", PER_BROKER, WITHOUT_EFFECT),
    password("ssl.keystore.certificate.chain", PER_BROKER),
    password("ssl.keystore.key", PER_BROKER),
    string("ssl.keystore.location", None, PER_BROKER),
    password("ssl.keystore.password", PER_BROKER),
    string("ssl.keystore.type", "JKS", PER_BROKER),
    string("ssl.principal.mapping.rules", "DEFAULT", LOW),
    string("ssl.protocol", "TLSv1.3", PER_BROKER),
    string("ssl.provider", None, PER_BROKER, NO_JAVA_PROVIDERS),
    string("ssl.secure.random.implementation", None, LOW, PER_BROKER, WITHOUT_EFFECT),
    string(
        "ssl.trustmanager.algorithm", "PKIX", PER_BROKER, NO_TRUST_MANAGERS.accepting("SunX509")
    ),
    password("ssl.truststore.certificates", PER_BROKER),
    string("ssl.truststore.location", None, PER_BROKER),
    password("ssl.truststore.password", PER_BROKER),
    string("ssl.truststore.type", "JKS", PER_BROKER),
)
