"""The SASL settings of listeners."""

import pytest

from ottla.configs import (
    InvalidConfigError,
    NodeConfig,
    Password,
    SaslSettings,
    TokenRetrieval,
    TokenValidation,
)

PREFIX = "listener.name.client."
JAAS = f"{PREFIX}%s.sasl.jaas.config"
SASL = {
    "listeners": "CLIENT://localhost:9092,CONTROLLER://localhost:9093",
    "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "CLIENT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
}
QUORUM = {
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
    JAAS % "scram-sha-256": "swordfish",
}
JWKS = "sasl.oauthbearer.jwks.endpoint.url"
TOKENS = "sasl.oauthbearer.token.endpoint.url"


def sasl(properties: dict[str, str], listener: str = "CLIENT") -> SaslSettings:
    settings = NodeConfig.of(SASL | properties).listener_security[listener].sasl
    assert settings is not None
    return settings


def refusal(properties: dict[str, str]) -> str:
    with pytest.raises(InvalidConfigError) as refused:
        NodeConfig.of(SASL | properties)
    message = refused.value.message
    assert "swordfish" not in message
    return message


def test_a_node_alone_needs_only_mechanisms() -> None:
    settings = sasl({})
    assert settings.enabled_mechanisms == ("SCRAM-SHA-256",)
    assert settings.client_mechanism is None
    assert settings.jaas == {}
    assert settings.max_reauth_ms == {"SCRAM-SHA-256": 0}
    assert settings.server_max_receive_bytes == 524_288
    assert settings.failed_authentication_delay_ms == 100
    assert settings.oauth is None


def test_settings_of_a_mechanism_override_those_of_its_listener() -> None:
    settings = sasl(
        {
            f"{PREFIX}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
            JAAS % "plain": " swordfish; ",
            "connections.max.reauth.ms": "1",
            f"{PREFIX}connections.max.reauth.ms": "2",
            f"{PREFIX}plain.connections.max.reauth.ms": "3",
        }
    )
    assert settings.enabled_mechanisms == ("PLAIN", "SCRAM-SHA-512")
    assert settings.jaas == {"PLAIN": Password("swordfish;")}
    assert settings.max_reauth_ms == {"PLAIN": 3, "SCRAM-SHA-512": 2}
    assert "swordfish" not in repr(settings)


def test_a_node_connects_with_the_mechanism_between_brokers() -> None:
    settings = sasl(QUORUM)
    assert settings.client_mechanism == "SCRAM-SHA-256"
    assert settings.jaas == {"SCRAM-SHA-256": Password("swordfish")}


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"sasl.enabled.mechanisms": ""}, "Listener CLIENT: sasl.enabled.mechanisms is empty"),
        ({"sasl.enabled.mechanisms": "GSSAPI"}, "does not support Kerberos"),
        ({"sasl.enabled.mechanisms": "plain"}, "sasl.enabled.mechanisms has plain"),
        ({"sasl.enabled.mechanisms": "PLAIN"}, f"{JAAS % 'plain'} is missing"),
        (
            {"sasl.enabled.mechanisms": "PLAIN", "sasl.jaas.config": "swordfish"},
            f"{JAAS % 'plain'} is missing",
        ),
        (
            QUORUM | {"sasl.mechanism.inter.broker.protocol": "GSSAPI"},
            "sasl.mechanism.inter.broker.protocol is GSSAPI, which is Kafka's default",
        ),
        (
            QUORUM | {"sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-512"},
            "is SCRAM-SHA-512, which is not in sasl.enabled.mechanisms (SCRAM-SHA-256)",
        ),
        (
            QUORUM | {"sasl.enabled.mechanisms": "SCRAM-SHA-256,OAUTHBEARER"},
            "OAUTHBEARER needs the keys that verify tokens; set sasl.oauthbearer.jwks",
        ),
        (
            {
                "controller.quorum.bootstrap.servers": "localhost:9093",
                "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
            },
            f"{JAAS % 'scram-sha-256'} is missing",
        ),
        (
            {"sasl.enabled.mechanisms": "OAUTHBEARER", JWKS: "http://swordfish@a/b"},
            f"{JWKS} must be a file: or https: URL",
        ),
    ],
    ids=str,
)
def test_a_listener_that_could_not_work_is_refused(
    properties: dict[str, str], message: str
) -> None:
    assert message in refusal(properties)


def test_tokens_are_verified_with_keys_of_the_listener() -> None:
    settings = sasl(
        {
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            f"{PREFIX}oauthbearer.{JWKS}": "file:/etc/jwks.json",
            "sasl.oauthbearer.expected.audience": "kafka,ottla",
            "sasl.oauthbearer.expected.issuer": "https://issuer",
            f"{PREFIX}sasl.oauthbearer.clock.skew.seconds": "5",
        }
    )
    assert settings.oauth is not None
    assert settings.oauth.retrieval is None
    assert settings.oauth.validation == TokenValidation(
        jwks_endpoint_url="file:/etc/jwks.json",
        expected_audience=("kafka", "ottla"),
        expected_issuer="https://issuer",
        clock_skew_seconds=5,
        scope_claim_name="scope",
        sub_claim_name="sub",
        jwks_refresh_ms=3_600_000,
        jwks_retry_backoff_ms=100,
        jwks_retry_backoff_max_ms=10_000,
    )


def test_a_broker_obtains_a_token_for_controllers_on_other_nodes() -> None:
    properties = {
        "process.roles": "broker",
        "listeners": "CLIENT://localhost:9092",
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,CONTROLLER:SASL_SSL",
        "controller.quorum.bootstrap.servers": "c1:9093",
        "sasl.mechanism.controller.protocol": "OAUTHBEARER",
        "sasl.oauthbearer.client.credentials.client.id": "node-1",
        "sasl.oauthbearer.client.credentials.client.secret": "swordfish",
        "sasl.login.connect.timeout.ms": "10",
    }
    assert TOKENS in refusal(properties)
    node = NodeConfig.of(SASL | properties | {TOKENS: "https://issuer/token"})
    assert node.controller_security == node.listener_security["CONTROLLER"]
    assert node.inter_broker_security.protocol == "PLAINTEXT"
    settings = node.controller_security.sasl
    assert settings is not None
    assert settings.enabled_mechanisms == ()
    assert settings.client_mechanism == "OAUTHBEARER"
    assert settings.oauth is not None
    assert settings.oauth.validation is None
    retrieval = settings.oauth.retrieval
    assert isinstance(retrieval, TokenRetrieval)
    assert retrieval.client_secret == Password("swordfish")
    assert retrieval.connect_timeout_ms == 10
    assert retrieval.read_timeout_ms is None
    assert "swordfish" not in repr(retrieval)
