"""Who connects, and how: one user for each way to authenticate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ottla.cli.client_security.jaas_text import PLAIN_MODULE, SCRAM_MODULE, jaas_text
from tests.conformance.security.certificates import STORE_PASSWORD

Protocol: TypeAlias = Literal["SSL", "SASL_SSL", "SASL_PLAINTEXT"]

BEARER_MODULE: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
BEARER_HANDLER: Final = (
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
)
_JAAS_MODULES: Final = {
    "PLAIN": PLAIN_MODULE,
    "SCRAM-SHA-256": SCRAM_MODULE,
    "SCRAM-SHA-512": SCRAM_MODULE,
}


@dataclass(frozen=True, slots=True)
class Login:
    """`name` is the user of the principal. `user` is what SASL sends as the name; of a delegation
    token it is the token's id. `mechanism` is None for a client certificate, a PEM file or a
    PKCS#12 file with its key. `bearer` is the file of an OAUTHBEARER token; with `token_endpoint`
    the client gets the token from there instead."""

    name: str
    mechanism: str | None = None
    user: str = ""
    password: str = ""
    is_token: bool = False
    bearer: Path | None = None
    token_endpoint: str | None = None
    certificate: Path | None = None

    @property
    def has_pkcs12(self) -> bool:
        return self.certificate is not None and self.certificate.suffix == ".p12"

    @property
    def bearer_token(self) -> str:
        assert self.bearer is not None
        return self.bearer.read_text()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A listener as a client reaches it. `truststore` is a PEM file."""

    address: str
    protocol: Protocol
    truststore: Path
    verifies_host: bool = True

    @property
    def has_tls(self) -> bool:
        return self.protocol.endswith("SSL")


def kafka_properties(endpoint: Endpoint, login: Login) -> dict[str, str]:
    """A client's properties by Kafka's names, for Java and for `ottla --command-config`."""
    found = {"bootstrap.servers": endpoint.address, "security.protocol": endpoint.protocol}
    if endpoint.has_tls:
        found |= {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(endpoint.truststore),
        }
        if not endpoint.verifies_host:
            found["ssl.endpoint.identification.algorithm"] = ""
    if login.certificate is not None:
        found["ssl.keystore.location"] = str(login.certificate)
        if login.has_pkcs12:
            found |= {"ssl.keystore.type": "PKCS12", "ssl.keystore.password": STORE_PASSWORD}
        else:
            found["ssl.keystore.type"] = "PEM"
    return found | _sasl_properties(login)


def _sasl_properties(login: Login) -> dict[str, str]:
    if login.mechanism is None:
        return {}
    if login.bearer is not None:
        found = {
            "sasl.mechanism": login.mechanism,
            "sasl.jaas.config": jaas_text(BEARER_MODULE, {}),
            "sasl.login.callback.handler.class": BEARER_HANDLER,
            "sasl.oauthbearer.token.endpoint.url": login.token_endpoint or login.bearer.as_uri(),
        }
        if login.token_endpoint is not None:
            found |= {
                "sasl.oauthbearer.client.credentials.client.id": login.name,
                "sasl.oauthbearer.client.credentials.client.secret": "the client's secret",
            }
        return found
    options = {"username": login.user, "password": login.password}
    if login.is_token:
        options["tokenauth"] = "true"
    module = _JAAS_MODULES[login.mechanism]
    return {"sasl.mechanism": login.mechanism, "sasl.jaas.config": jaas_text(module, options)}
