"""What the broker configs mean: TLS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TLS_TEXTS: Final[Mapping[str, str]] = {
    "ottla.ssl.crl.location": (
        "File with certificate revocation lists in PEM format, one for each certificate authority, "
        "and nothing else. The listener refuses a certificate that is on one of them, and all "
        "certificates of an authority whose list is missing or has expired. Empty means no check."
    ),
    "ssl.allow.dn.changes": (
        "Whether a renewed certificate may have another distinguished name. Ottla always allows "
        "this."
    ),
    "ssl.allow.san.changes": (
        "Whether a renewed certificate may have other subject alternative names. Ottla always "
        "allows this."
    ),
    "ssl.cipher.suites": (
        "Cipher suites that TLS connections may use, by their names in the TLS standard. Empty "
        "means the defaults of OpenSSL. The suites of TLS 1.3 must all be listed or none; of TLS "
        "1.2, Ottla supports those with forward secrecy and authenticated encryption."
    ),
    "ssl.client.auth": (
        "Whether clients of SSL listeners need a certificate: required, requested (may have "
        "one) or none. It applies to a SASL_SSL listener only if it is set for that listener."
    ),
    "ssl.enabled.protocols": "Versions of TLS that connections may use: TLSv1.2, TLSv1.3 or both.",
    "ssl.endpoint.identification.algorithm": (
        "How this node, when it connects to another, checks the host name in the other's "
        "certificate: https, or empty for no check."
    ),
    "ssl.engine.factory.class": "Java class that creates the TLS engines (`SslEngineFactory`).",
    "ssl.key.password": "Password of the private key, if the key is encrypted.",
    "ssl.keymanager.algorithm": "Algorithm of the Java key manager. Ottla uses OpenSSL instead.",
    "ssl.keystore.certificate.chain": (
        "Certificate chain of the node as PEM text. It needs ssl.keystore.key and "
        "ssl.keystore.type=PEM."
    ),
    "ssl.keystore.key": (
        "Private key of the node as PEM text. It needs ssl.keystore.certificate.chain and "
        "ssl.keystore.type=PEM."
    ),
    "ssl.keystore.location": (
        "File with the private key and the certificate of the node. A listener with TLS needs it, "
        "or ssl.keystore.key."
    ),
    "ssl.keystore.password": "Password of a PKCS#12 file in ssl.keystore.location.",
    "ssl.keystore.type": (
        "Format of the key store: PEM or PKCS12. Ottla cannot read JKS, Kafka's default; convert "
        "such a file with keytool -importkeystore -deststoretype PKCS12."
    ),
    "ssl.principal.mapping.rules": (
        "Rules that turn the distinguished name of a client's certificate into its user name. "
        "DEFAULT keeps the whole distinguished name."
    ),
    "ssl.protocol": (
        "Highest version of TLS with which this node connects to other nodes: TLSv1.2 or TLSv1.3. "
        "ssl.enabled.protocols limits what the node accepts."
    ),
    "ssl.provider": "Java provider of the TLS implementation.",
    "ssl.secure.random.implementation": (
        "Java random number generator for TLS. Ottla uses that of OpenSSL."
    ),
    "ssl.trustmanager.algorithm": "Algorithm of the Java trust manager.",
    "ssl.truststore.certificates": (
        "Certificates that the node trusts, as PEM text. It needs ssl.truststore.type=PEM."
    ),
    "ssl.truststore.location": (
        "File with the certificates that the node trusts. Without it, a node that connects to "
        "another trusts the authorities of the operating system."
    ),
    "ssl.truststore.password": "Password of a PKCS#12 file in ssl.truststore.location.",
    "ssl.truststore.type": (
        "Format of the trust store: PEM or PKCS12. Ottla cannot read JKS, Kafka's default; convert "
        "such a file with keytool -importkeystore -deststoretype PKCS12."
    ),
}
