"""Typed objects for the security of a client, for those who prefer them to Kafka's properties."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tls:
    """Files in PEM. Without `ca` the host's authorities are trusted. `certificate` and `key` are
    this client's own, for listeners that require one."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    key_password: str | None = field(default=None, repr=False)
    checks_host_name: bool = True

    def properties(self) -> dict[str, str]:
        given = {
            "ssl.ca.location": self.ca,
            "ssl.certificate.location": self.certificate,
            "ssl.key.location": self.key or self.certificate,
            "ssl.key.password": self.key_password,
            "ssl.endpoint.identification.algorithm": None if self.checks_host_name else "",
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Plain:
    """A user name and a password, which are sent as they are: use it with TLS."""

    username: str
    password: str = field(repr=False)

    def properties(self) -> dict[str, str]:
        return _password("PLAIN", self.username, self.password)


@dataclass(frozen=True, slots=True)
class Scram:
    """A user name and a password of which the node learns nothing. With `is_token`, the id and the
    HMAC of a delegation token."""

    username: str
    password: str = field(repr=False)
    mechanism: str = "SCRAM-SHA-512"
    is_token: bool = False

    def properties(self) -> dict[str, str]:
        if not self.is_token:
            return _password(self.mechanism, self.username, self.password)
        module = "org.apache.kafka.common.security.scram.ScramLoginModule"
        login = f"username={_quoted(self.username)} password={_quoted(self.password)}"
        return {
            "sasl.mechanism": self.mechanism,
            "sasl.jaas.config": f'{module} required {login} tokenauth="true";',
        }


@dataclass(frozen=True, slots=True)
class OAuthBearer:
    """A token from an endpoint (https://) by client id and secret, or from a file (file://)."""

    token_url: str
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scope: str | None = None

    def properties(self) -> dict[str, str]:
        given = {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.token.endpoint.url": self.token_url,
            "sasl.oauthbearer.client.credentials.client.id": self.client_id,
            "sasl.oauthbearer.client.credentials.client.secret": self.client_secret,
            "sasl.oauthbearer.scope": self.scope,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Security:
    """How a client's connections are secured: TLS, SASL or both."""

    tls: Tls | None = None
    sasl: Plain | Scram | OAuthBearer | None = None

    def properties(self) -> dict[str, str]:
        """Kafka's and librdkafka's names for the same."""
        layer = "SSL" if self.tls is not None else "PLAINTEXT"
        protocol = layer if self.sasl is None else f"SASL_{layer}"
        return {
            "security.protocol": protocol,
            **({} if self.tls is None else self.tls.properties()),
            **({} if self.sasl is None else self.sasl.properties()),
        }


def _password(mechanism: str, username: str, password: str) -> dict[str, str]:
    return {"sasl.mechanism": mechanism, "sasl.username": username, "sasl.password": password}


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
