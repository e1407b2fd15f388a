"""What the broker configs mean: authentication by SASL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SASL_TEXTS: Final[Mapping[str, str]] = {
    "sasl.client.callback.handler.class": (
        "Java class that provides the credentials when the node connects as a SASL client."
    ),
    "sasl.enabled.mechanisms": "SASL mechanisms that clients may use.",
    "sasl.jaas.config": "Login context of SASL, in the format of JAAS files.",
    "sasl.kerberos.kinit.cmd": "Path of the kinit command of Kerberos.",
    "sasl.kerberos.min.time.before.relogin": (
        "Shortest time between two Kerberos logins, in milliseconds."
    ),
    "sasl.kerberos.principal.to.local.rules": (
        "Rules that turn a Kerberos principal into a user name."
    ),
    "sasl.kerberos.service.name": "Kerberos service name under which brokers are known.",
    "sasl.kerberos.ticket.renew.jitter": (
        "Random part of the time until a Kerberos ticket is renewed."
    ),
    "sasl.kerberos.ticket.renew.window.factor": (
        "Part of a Kerberos ticket's lifetime after which it is renewed."
    ),
    "sasl.login.callback.handler.class": (
        "Java class that provides the credentials for a SASL login."
    ),
    "sasl.login.class": "Java class that performs a SASL login.",
    "sasl.login.connect.timeout.ms": (
        "Connect timeout of the connection to the OAuth server, in milliseconds."
    ),
    "sasl.login.read.timeout.ms": (
        "Read timeout of the connection to the OAuth server, in milliseconds."
    ),
    "sasl.login.refresh.buffer.seconds": (
        "How long before its expiry a credential is refreshed at the latest, in seconds."
    ),
    "sasl.login.refresh.min.period.seconds": (
        "Shortest time between two refreshes of a credential, in seconds."
    ),
    "sasl.login.refresh.window.factor": (
        "Part of a credential's lifetime after which it is refreshed."
    ),
    "sasl.login.refresh.window.jitter": "Random part of the time until a credential is refreshed.",
    "sasl.login.retry.backoff.max.ms": (
        "Longest wait before a failed request to the OAuth server is repeated, in milliseconds."
    ),
    "sasl.login.retry.backoff.ms": (
        "First wait before a failed request to the OAuth server is repeated, in milliseconds."
    ),
    "sasl.mechanism.controller.protocol": "SASL mechanism with which nodes connect to controllers.",
    "sasl.mechanism.inter.broker.protocol": (
        "SASL mechanism with which brokers connect to each other."
    ),
    "sasl.oauthbearer.assertion.algorithm": (
        "Algorithm with which the JWT assertion for the OAuth server is signed."
    ),
    "sasl.oauthbearer.assertion.claim.aud": (
        "Audience (aud claim) of the JWT assertion for the OAuth server."
    ),
    "sasl.oauthbearer.assertion.claim.exp.seconds": (
        "Lifetime of the JWT assertion for the OAuth server (exp claim), in seconds."
    ),
    "sasl.oauthbearer.assertion.claim.iss": (
        "Issuer (iss claim) of the JWT assertion for the OAuth server."
    ),
    "sasl.oauthbearer.assertion.claim.jti.include": (
        "Whether the JWT assertion for the OAuth server has a unique id (jti claim)."
    ),
    "sasl.oauthbearer.assertion.claim.nbf.seconds": (
        "How long before the current time the JWT assertion becomes valid (nbf claim), in seconds."
    ),
    "sasl.oauthbearer.assertion.claim.sub": (
        "Subject (sub claim) of the JWT assertion for the OAuth server."
    ),
    "sasl.oauthbearer.assertion.file": "File with a complete JWT assertion for the OAuth server.",
    "sasl.oauthbearer.assertion.private.key.file": (
        "File with the private key that signs the JWT assertion."
    ),
    "sasl.oauthbearer.assertion.private.key.passphrase": (
        "Passphrase of the private key that signs the JWT assertion."
    ),
    "sasl.oauthbearer.assertion.template.file": (
        "File with more headers and claims of the JWT assertion."
    ),
    "sasl.oauthbearer.client.credentials.client.id": (
        "Client id for the client credentials grant of OAuth."
    ),
    "sasl.oauthbearer.client.credentials.client.secret": (
        "Client secret for the client credentials grant of OAuth."
    ),
    "sasl.oauthbearer.clock.skew.seconds": (
        "Difference between the clocks of the node and the OAuth server that is tolerated, in "
        "seconds."
    ),
    "sasl.oauthbearer.expected.audience": "Audiences of which a token must name one (aud claim).",
    "sasl.oauthbearer.expected.issuer": "Issuer that a token must have (iss claim).",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": (
        "How often the keys of the OAuth server are read again, in milliseconds."
    ),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": (
        "Longest wait before reading the keys of the OAuth server is repeated, in milliseconds."
    ),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": (
        "First wait before reading the keys of the OAuth server is repeated, in milliseconds."
    ),
    "sasl.oauthbearer.jwks.endpoint.url": (
        "URL or file of the keys (JWKS) with which tokens are verified."
    ),
    "sasl.oauthbearer.jwt.retriever.class": (
        "Java class that obtains tokens from the OAuth server (`JwtRetriever`)."
    ),
    "sasl.oauthbearer.jwt.validator.class": "Java class that validates tokens (`JwtValidator`).",
    "sasl.oauthbearer.scope": "Scope of the tokens that are requested from the OAuth server.",
    "sasl.oauthbearer.scope.claim.name": "Name of the claim that has a token's scope.",
    "sasl.oauthbearer.sub.claim.name": "Name of the claim that has a token's subject.",
    "sasl.oauthbearer.token.endpoint.url": "URL from which tokens are requested.",
    "sasl.server.callback.handler.class": (
        "Java class that verifies the credentials of SASL clients."
    ),
    "sasl.server.max.receive.size": (
        "Largest SASL message that the broker accepts before a client is authenticated, in bytes."
    ),
}
