"""OAUTHBEARER: verifying tokens, and obtaining them."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    HIGH,
    LOW,
    boolean,
    int32,
    int64,
    java_class,
    password,
    refused,
    string,
    strings,
)
from ottla.configs.status import NO_JAVA_CLASSES, NO_JWT_ASSERTIONS
from ottla.configs.validators import OneOfInAnyCase, between, list_of

_KAFKA: Final = "org.apache.kafka.common.security.oauthbearer"

_VALIDATION: Final = (
    int32("sasl.oauthbearer.clock.skew.seconds", 30, LOW),
    strings("sasl.oauthbearer.expected.audience", (), list_of(), HIGH),
    string("sasl.oauthbearer.expected.issuer", None, HIGH),
    int64("sasl.oauthbearer.jwks.endpoint.refresh.ms", 3_600_000, LOW),
    int64("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", 10_000, LOW),
    int64("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", 100, LOW),
    string("sasl.oauthbearer.jwks.endpoint.url", None),
    java_class(
        "sasl.oauthbearer.jwt.validator.class",
        f"{_KAFKA}.DefaultJwtValidator",
        NO_JAVA_CLASSES.accepting(f"{_KAFKA}.BrokerJwtValidator"),
    ),
    string("sasl.oauthbearer.scope.claim.name", "scope", LOW),
    string("sasl.oauthbearer.sub.claim.name", "sub", LOW),
)
_RETRIEVAL: Final = (
    string("sasl.oauthbearer.client.credentials.client.id", None),
    password("sasl.oauthbearer.client.credentials.client.secret"),
    java_class(
        "sasl.oauthbearer.jwt.retriever.class",
        f"{_KAFKA}.DefaultJwtRetriever",
        NO_JAVA_CLASSES.accepting(
            f"{_KAFKA}.ClientCredentialsJwtRetriever", f"{_KAFKA}.FileJwtRetriever"
        ),
    ),
    string("sasl.oauthbearer.scope", None),
    string("sasl.oauthbearer.token.endpoint.url", None),
)
_ASSERTIONS: Final = refused(
    NO_JWT_ASSERTIONS,
    string("sasl.oauthbearer.assertion.algorithm", "RS256", OneOfInAnyCase(("ES256", "RS256"))),
    string("sasl.oauthbearer.assertion.claim.aud", None),
    int32("sasl.oauthbearer.assertion.claim.exp.seconds", 300, between(0, 86_400), LOW),
    string("sasl.oauthbearer.assertion.claim.iss", None),
    boolean("sasl.oauthbearer.assertion.claim.jti.include", False),
    int32("sasl.oauthbearer.assertion.claim.nbf.seconds", 60, between(0, 3600), LOW),
    string("sasl.oauthbearer.assertion.claim.sub", None),
    string("sasl.oauthbearer.assertion.file", None),
    string("sasl.oauthbearer.assertion.private.key.file", None),
    password("sasl.oauthbearer.assertion.private.key.passphrase"),
    string("sasl.oauthbearer.assertion.template.file", None),
)

OAUTH_CONFIGS: Final = (*_VALIDATION, *_RETRIEVAL, *_ASSERTIONS)
