"""What the broker configs mean: OAUTHBEARER."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OAUTH_TEXTS: Final[Mapping[str, str]] = {
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
        "URL of the keys (JWKS) with which tokens are verified, with the scheme file or https. "
        "OAUTHBEARER needs it: Ottla accepts no token without verifying it."
    ),
    "sasl.oauthbearer.jwt.retriever.class": (
        "Java class that obtains tokens from the OAuth server (`JwtRetriever`)."
    ),
    "sasl.oauthbearer.jwt.validator.class": "Java class that validates tokens (`JwtValidator`).",
    "sasl.oauthbearer.scope": "Scope of the tokens that are requested from the OAuth server.",
    "sasl.oauthbearer.scope.claim.name": "Name of the claim that has a token's scope.",
    "sasl.oauthbearer.sub.claim.name": "Name of the claim that has a token's subject.",
    "sasl.oauthbearer.token.endpoint.url": (
        "URL from which this node obtains tokens when it connects to other nodes: an https URL of "
        "an OAuth server, or a file URL of a file with a token."
    ),
}
