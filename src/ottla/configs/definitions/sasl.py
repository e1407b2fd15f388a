"""Authentication by SASL: mechanisms, credentials and logins; OAuth is in `oauth`."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    HIGH,
    LOW,
    PER_BROKER,
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
from ottla.configs.status import NO_JAVA_CLASSES, NO_KERBEROS, WITHOUT_EFFECT
from ottla.configs.validators import list_of

_KAFKA: Final = "org.apache.kafka.common.security"

_MECHANISMS: Final = (
    strings("sasl.enabled.mechanisms", ("GSSAPI",), list_of(), PER_BROKER),
    password("sasl.jaas.config", PER_BROKER),
    string("sasl.mechanism.controller.protocol", "GSSAPI", HIGH),
    string("sasl.mechanism.inter.broker.protocol", "GSSAPI", PER_BROKER),
    int32("sasl.server.max.receive.size", 524_288),
)

# How tokens are obtained and renewed; Kafka uses these for OAUTHBEARER only.
_LOGIN: Final = (
    int32("sasl.login.connect.timeout.ms", None, LOW),
    int32("sasl.login.read.timeout.ms", None, LOW),
    int16("sasl.login.refresh.buffer.seconds", 300, PER_BROKER),
    int16("sasl.login.refresh.min.period.seconds", 60, PER_BROKER),
    double("sasl.login.refresh.window.factor", 0.8, PER_BROKER),
    double("sasl.login.refresh.window.jitter", 0.05, PER_BROKER),
    int64("sasl.login.retry.backoff.max.ms", 10_000, LOW),
    int64("sasl.login.retry.backoff.ms", 100, LOW),
)

# Kafka's own classes do what Ottla does. The unsecured OAUTHBEARER handlers, which accept any
# token, are not among them.
_CLASSES: Final = (
    java_class("sasl.client.callback.handler.class", None, NO_JAVA_CLASSES),
    java_class(
        "sasl.login.callback.handler.class",
        None,
        NO_JAVA_CLASSES.accepting(
            f"{_KAFKA}.authenticator.AbstractLogin$DefaultLoginCallbackHandler",
            f"{_KAFKA}.oauthbearer.OAuthBearerLoginCallbackHandler",
        ),
    ),
    java_class(
        "sasl.login.class",
        None,
        NO_JAVA_CLASSES.accepting(
            f"{_KAFKA}.authenticator.DefaultLogin",
            f"{_KAFKA}.oauthbearer.internals.OAuthBearerRefreshingLogin",
        ),
    ),
    java_class(
        "sasl.server.callback.handler.class",
        None,
        NO_JAVA_CLASSES.accepting(
            f"{_KAFKA}.oauthbearer.OAuthBearerValidatorCallbackHandler",
            f"{_KAFKA}.plain.internals.PlainServerCallbackHandler",
            f"{_KAFKA}.scram.internals.ScramServerCallbackHandler",
        ),
    ),
)

_KERBEROS: Final = refused(
    NO_KERBEROS,
    string("sasl.kerberos.kinit.cmd", "/usr/bin/kinit", PER_BROKER),
    strings("sasl.kerberos.principal.to.local.rules", ("DEFAULT",), list_of(), PER_BROKER),
    string("sasl.kerberos.service.name", None, PER_BROKER),
)
# Renewal of a Kerberos login. These settings imply no security, and tools alter them on brokers
# without Kerberos, so they are accepted.
_RENEWAL: Final = (
    int64("sasl.kerberos.min.time.before.relogin", 60_000, PER_BROKER, WITHOUT_EFFECT),
    double("sasl.kerberos.ticket.renew.jitter", 0.05, PER_BROKER, WITHOUT_EFFECT),
    double("sasl.kerberos.ticket.renew.window.factor", 0.8, PER_BROKER, WITHOUT_EFFECT),
)

SASL_CONFIGS: Final = (*_MECHANISMS, *_LOGIN, *_CLASSES, *_KERBEROS, *_RENEWAL)
