"""The security configs of one listener, after its own values override those of all (KIP-103)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ottla.configs.definitions import BROKER_CONFIGS
from ottla.configs.errors import InvalidConfigError
from ottla.configs.setting import Setting
from ottla.configs.value import ConfigValue, ConfigValues, Password


@dataclass(frozen=True, slots=True)
class ListenerValues:
    """`listener` is the listener's name in upper case.

    `texts` are all set configs of the node. A name with one of the `prefixes`, tried in order,
    overrides the value without a prefix.
    """

    listener: str
    prefixes: tuple[str, ...]
    values: ConfigValues = field(repr=False)
    texts: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, listener: str, values: ConfigValues, texts: Mapping[str, str]) -> ListenerValues:
        return cls(listener, (f"listener.name.{listener.lower()}.",), values, texts)

    def of_mechanism(self, mechanism: str) -> ListenerValues:
        """The configs of one SASL mechanism on this listener."""
        prefix = f"{self.prefixes[0]}{mechanism.lower()}."
        return replace(self, prefixes=(prefix, *self.prefixes))

    def __getitem__(self, name: str) -> ConfigValue:
        """Empty texts count as no value where the config has no default."""
        value = self._own(name)
        return None if value in ("", Password("")) and self._may_be_none(name) else value

    def own_text(self, name: str) -> str | None:
        """The text under the longest prefix, or None if only other levels have the config."""
        return self.texts.get(f"{self.prefixes[0]}{name}")

    def error(self, message: str) -> InvalidConfigError:
        return InvalidConfigError(f"Listener {self.listener}: {message}")

    def _own(self, name: str) -> ConfigValue:
        for prefix in self.prefixes:
            text = self.texts.get(f"{prefix}{name}")
            if text is not None:
                return BROKER_CONFIGS[name]._replace(name=f"{prefix}{name}").parse(text)
        return self.values[name]

    def _may_be_none(self, name: str) -> bool:
        return BROKER_CONFIGS[name].default is None

    ssl_cipher_suites = Setting[tuple[str, ...]]("ssl.cipher.suites")
    ssl_client_auth = Setting[str]("ssl.client.auth")
    ssl_crl_location = Setting[str | None]("ottla.ssl.crl.location")
    ssl_enabled_protocols = Setting[tuple[str, ...]]("ssl.enabled.protocols")
    ssl_endpoint_identification_algorithm = Setting[str]("ssl.endpoint.identification.algorithm")
    ssl_key_password = Setting[Password | None]("ssl.key.password")
    ssl_keystore_certificate_chain = Setting[Password | None]("ssl.keystore.certificate.chain")
    ssl_keystore_key = Setting[Password | None]("ssl.keystore.key")
    ssl_keystore_location = Setting[str | None]("ssl.keystore.location")
    ssl_keystore_password = Setting[Password | None]("ssl.keystore.password")
    ssl_keystore_type = Setting[str]("ssl.keystore.type")
    ssl_principal_mapping_rules = Setting[str]("ssl.principal.mapping.rules")
    ssl_protocol = Setting[str]("ssl.protocol")
    ssl_truststore_certificates = Setting[Password | None]("ssl.truststore.certificates")
    ssl_truststore_location = Setting[str | None]("ssl.truststore.location")
    ssl_truststore_password = Setting[Password | None]("ssl.truststore.password")
    ssl_truststore_type = Setting[str]("ssl.truststore.type")

    connection_failed_authentication_delay_ms = Setting[int](
        "connection.failed.authentication.delay.ms"
    )
    connections_max_reauth_ms = Setting[int]("connections.max.reauth.ms")
    sasl_enabled_mechanisms = Setting[tuple[str, ...]]("sasl.enabled.mechanisms")
    sasl_mechanism_controller_protocol = Setting[str]("sasl.mechanism.controller.protocol")
    sasl_mechanism_inter_broker_protocol = Setting[str]("sasl.mechanism.inter.broker.protocol")
    sasl_server_max_receive_size = Setting[int]("sasl.server.max.receive.size")

    client_id = Setting[str | None]("sasl.oauthbearer.client.credentials.client.id")
    client_secret = Setting[Password | None]("sasl.oauthbearer.client.credentials.client.secret")
    clock_skew_seconds = Setting[int]("sasl.oauthbearer.clock.skew.seconds")
    expected_audience = Setting[tuple[str, ...]]("sasl.oauthbearer.expected.audience")
    expected_issuer = Setting[str | None]("sasl.oauthbearer.expected.issuer")
    jwks_endpoint_refresh_ms = Setting[int]("sasl.oauthbearer.jwks.endpoint.refresh.ms")
    jwks_endpoint_retry_backoff_max_ms = Setting[int](
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms"
    )
    jwks_endpoint_retry_backoff_ms = Setting[int]("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms")
    jwks_endpoint_url = Setting[str | None]("sasl.oauthbearer.jwks.endpoint.url")
    scope = Setting[str | None]("sasl.oauthbearer.scope")
    scope_claim_name = Setting[str]("sasl.oauthbearer.scope.claim.name")
    sub_claim_name = Setting[str]("sasl.oauthbearer.sub.claim.name")
    token_endpoint_url = Setting[str | None]("sasl.oauthbearer.token.endpoint.url")

    login_connect_timeout_ms = Setting[int | None]("sasl.login.connect.timeout.ms")
    login_read_timeout_ms = Setting[int | None]("sasl.login.read.timeout.ms")
    login_refresh_buffer_seconds = Setting[int]("sasl.login.refresh.buffer.seconds")
    login_refresh_min_period_seconds = Setting[int]("sasl.login.refresh.min.period.seconds")
    login_refresh_window_factor = Setting[float]("sasl.login.refresh.window.factor")
    login_refresh_window_jitter = Setting[float]("sasl.login.refresh.window.jitter")
    login_retry_backoff_max_ms = Setting[int]("sasl.login.retry.backoff.max.ms")
    login_retry_backoff_ms = Setting[int]("sasl.login.retry.backoff.ms")
