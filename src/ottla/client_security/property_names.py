"""The security properties of clients: Kafka's names, librdkafka's, and those that nothing supports.

Both kinds may be mixed, as long as two names do not set the same thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ottla.client_security.errors import ClientPropertyError

SECURITY_PREFIXES: Final = (
    "security.",
    "sasl.",
    "ssl.",
    "enable.sasl.",
    "enable.ssl.",
    "https.",
    "ottla.ssl.",
)

# Kafka's names, which this package translates. Some of them librdkafka has as well.
KAFKA_NAMES: Final = frozenset(
    {
        "ottla.ssl.crl.location",
        "sasl.jaas.config",
        "sasl.login.callback.handler.class",
        "sasl.mechanism",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.token.endpoint.url",
        "security.protocol",
        "ssl.enabled.protocols",
        "ssl.endpoint.identification.algorithm",
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.protocol",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
# librdkafka's names that our clients support, too.
COMMON_NAMES: Final = frozenset(
    {
        "sasl.mechanisms",
        "sasl.password",
        "sasl.username",
        "ssl.ca.location",
        "ssl.ca.pem",
        "ssl.certificate.location",
        "ssl.certificate.pem",
        "ssl.crl.location",
        "ssl.key.location",
        "ssl.key.pem",
    }
)
# librdkafka's names that no client of ours supports, and the beginnings of such names.
LIBRDKAFKA_NAMES: Final = frozenset(
    {
        "enable.sasl.oauthbearer.unsecure.jwt",
        "enable.ssl.certificate.verification",
        "https.ca.location",
        "https.ca.pem",
        "ssl.ca.certificate.stores",
        "ssl.cipher.suites",
        "ssl.curves.list",
        "ssl.providers",
        "ssl.sigalgs.list",
    }
)
LIBRDKAFKA_PREFIXES: Final = ("sasl.kerberos.", "sasl.oauthbearer.", "ssl.engine.")
# They choose among implementations of Java, or tune Kafka's own client.
_IGNORED: Final = frozenset(
    {
        "security.providers",
        "ssl.keymanager.algorithm",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
    }
)
_IGNORED_PREFIXES: Final = (
    "sasl.login.connect.",
    "sasl.login.read.",
    "sasl.login.refresh.",
    "sasl.login.retry.",
)
_INSTEAD: Final[Mapping[str, str]] = {
    "sasl.client.callback.handler.class": "Java classes cannot be loaded here; leave it out.",
    "sasl.login.class": "Java classes cannot be loaded here; leave it out.",
    "ssl.engine.factory.class": "Java classes cannot be loaded here; give the certificates with "
    "ssl.truststore.location and ssl.keystore.location.",
    "ssl.keystore.key.password": "Kafka's name for it is ssl.key.password.",
    "ssl.ca": "Write ssl.truststore.location=FILE and ssl.truststore.type=PEM.",
    "sasl.user": "Write sasl.username, or sasl.jaas.config.",
}


def is_of_security(name: str) -> bool:
    return name.startswith(SECURITY_PREFIXES)


def check_names(names: Iterable[str]) -> None:
    """Raises ClientPropertyError for a security property that no client has."""
    for name in names:
        if is_of_security(name) and not _is_known(name):
            raise ClientPropertyError(f"There is no client property {name}.", *_hints(name))


def is_ignored(name: str) -> bool:
    return name in _IGNORED or name.startswith(_IGNORED_PREFIXES)


def is_only_of_librdkafka(name: str) -> bool:
    """Whether only librdkafka supports it."""
    if name in KAFKA_NAMES or name in COMMON_NAMES:
        return False
    return name in LIBRDKAFKA_NAMES or name.startswith(LIBRDKAFKA_PREFIXES)


def _is_known(name: str) -> bool:
    return (
        name in KAFKA_NAMES
        or name in COMMON_NAMES
        or is_ignored(name)
        or is_only_of_librdkafka(name)
    )


def _hints(name: str) -> list[str]:
    if name in _INSTEAD:
        return [_INSTEAD[name]]
    # Imported late: correct names do not need it.
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(KAFKA_NAMES | COMMON_NAMES), n=2)
    return [f"Did you mean {' or '.join(near)}?"] if near else []
