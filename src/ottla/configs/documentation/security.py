"""What the broker configs mean: TLS, principals, authorization and delegation tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SECURITY_TEXTS: Final[Mapping[str, str]] = {
    "authorizer.class.name": (
        "Java class that decides what each client may do (`Authorizer`). Empty means that every "
        "client may do everything."
    ),
    "connections.max.reauth.ms": (
        "Longest time after which a client that authenticated with SASL must do so again, in "
        "milliseconds; 0 is never."
    ),
    "delegation.token.expiry.check.interval.ms": (
        "How often expired delegation tokens are removed, in milliseconds."
    ),
    "delegation.token.expiry.time.ms": (
        "How long a delegation token is valid unless it is renewed, in milliseconds."
    ),
    "delegation.token.max.lifetime.ms": (
        "Age at which a delegation token can no longer be renewed, in milliseconds."
    ),
    "delegation.token.secret.key": (
        "Key with which delegation tokens are signed. It must be the same on all nodes."
    ),
    "principal.builder.class": (
        "Java class that derives the name of a client from its connection "
        "(`KafkaPrincipalBuilder`)."
    ),
    "security.providers": "Java classes that add security algorithms.",
    "ssl.allow.dn.changes": "Whether a renewed certificate may have another distinguished name.",
    "ssl.allow.san.changes": (
        "Whether a renewed certificate may have other subject alternative names."
    ),
    "ssl.cipher.suites": (
        "Cipher suites that TLS connections may use. Empty means all that are available."
    ),
    "ssl.client.auth": (
        "Whether clients of TLS listeners need a certificate: required, requested (may have "
        "one) or none."
    ),
    "ssl.enabled.protocols": "Versions of TLS that connections may use.",
    "ssl.endpoint.identification.algorithm": (
        "How the host name in a certificate is checked: https, or empty for no check."
    ),
    "ssl.engine.factory.class": "Java class that creates the TLS engines (`SslEngineFactory`).",
    "ssl.key.password": "Password of the private key.",
    "ssl.keymanager.algorithm": "Algorithm of the Java key manager.",
    "ssl.keystore.certificate.chain": "Certificate chain of the node, in PEM format.",
    "ssl.keystore.key": "Private key of the node, in PEM format.",
    "ssl.keystore.location": "File with the private key and the certificate of the node.",
    "ssl.keystore.password": "Password of the file in ssl.keystore.location.",
    "ssl.keystore.type": "Format of the key store: JKS, PKCS12 or PEM.",
    "ssl.principal.mapping.rules": (
        "Rules that turn the distinguished name of a client's certificate into its user name."
    ),
    "ssl.protocol": "Version of TLS that the node prefers.",
    "ssl.provider": "Java provider of the TLS implementation.",
    "ssl.secure.random.implementation": "Java random number generator for TLS.",
    "ssl.trustmanager.algorithm": "Algorithm of the Java trust manager.",
    "ssl.truststore.certificates": "Certificates that the node trusts, in PEM format.",
    "ssl.truststore.location": "File with the certificates that the node trusts.",
    "ssl.truststore.password": "Password of the file in ssl.truststore.location.",
    "ssl.truststore.type": "Format of the trust store: JKS, PKCS12 or PEM.",
}
