"""Authentication by SASL: Kerberos, OAuth and the rest."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    HIGH,
    LOW,
    PER_BROKER,
    boolean,
    double,
    int16,
    int32,
    int64,
    java_class,
    password,
    refused,
    string,
    strings,
)
from ottla.configs.status import NO_SECURITY, WITHOUT_EFFECT
from ottla.configs.validators import OneOfInAnyCase, between, list_of

_REFUSED: Final = refused(
    NO_SECURITY,
    java_class("sasl.client.callback.handler.class", None),
    strings("sasl.enabled.mechanisms", ("GSSAPI",), list_of(), PER_BROKER),
    password("sasl.jaas.config", PER_BROKER),
    string("sasl.kerberos.kinit.cmd", "/usr/bin/kinit", PER_BROKER),
    strings("sasl.kerberos.principal.to.local.rules", ("DEFAULT",), list_of(), PER_BROKER),
    string("sasl.kerberos.service.name", None, PER_BROKER),
    java_class("sasl.login.callback.handler.class", None),
    java_class("sasl.login.class", None),
    int32("sasl.login.connect.timeout.ms", None, LOW),
    int32("sasl.login.read.timeout.ms", None, LOW),
    int16("sasl.login.refresh.buffer.seconds", 300, PER_BROKER),
    int16("sasl.login.refresh.min.period.seconds", 60, PER_BROKER),
    double("sasl.login.refresh.window.factor", 0.8, PER_BROKER),
    double("sasl.login.refresh.window.jitter", 0.05, PER_BROKER),
    int64("sasl.login.retry.backoff.max.ms", 10_000, LOW),
    int64("sasl.login.retry.backoff.ms", 100, LOW),
    string("sasl.mechanism.controller.protocol", "GSSAPI", HIGH),
    string("sasl.mechanism.inter.broker.protocol", "GSSAPI", PER_BROKER),
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
    string("sasl.oauthbearer.client.credentials.client.id", None),
    password("sasl.oauthbearer.client.credentials.client.secret"),
    int32("sasl.oauthbearer.clock.skew.seconds", 30, LOW),
    strings("sasl.oauthbearer.expected.audience", (), list_of(), HIGH),
    string("sasl.oauthbearer.expected.issuer", None, HIGH),
    int64("sasl.oauthbearer.jwks.endpoint.refresh.ms", 3_600_000, LOW),
    int64("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", 10_000, LOW),
    int64("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", 100, LOW),
    string("sasl.oauthbearer.jwks.endpoint.url", None),
    java_class(
        "sasl.oauthbearer.jwt.retriever.class",
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
    ),
    java_class(
        "sasl.oauthbearer.jwt.validator.class",
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
    ),
    string("sasl.oauthbearer.scope", None),
    string("sasl.oauthbearer.scope.claim.name", "scope", LOW),
    string("sasl.oauthbearer.sub.claim.name", "sub", LOW),
    string("sasl.oauthbearer.token.endpoint.url", None),
    java_class("sasl.server.callback.handler.class", None),
    int32("sasl.server.max.receive.size", 524_288),
)

# Renewal of a Kerberos login. Without a SASL listener these settings imply no security, and tools
# alter them on brokers without security, so they are accepted.
_RENEWAL: Final = (
    int64("sasl.kerberos.min.time.before.relogin", 60_000, PER_BROKER, WITHOUT_EFFECT),
    double("sasl.kerberos.ticket.renew.jitter", 0.05, PER_BROKER, WITHOUT_EFFECT),
    double("sasl.kerberos.ticket.renew.window.factor", 0.8, PER_BROKER, WITHOUT_EFFECT),
)

SASL_CONFIGS: Final = (*_REFUSED, *_RENEWAL)
