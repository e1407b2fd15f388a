"""Which security settings a node accepts, refuses or reports."""

import pytest

from ottla.configs import BROKER_CONFIGS, InvalidConfigError, NodeConfig
from ottla.configs.definitions.oauth import OAUTH_CONFIGS
from ottla.configs.definitions.sasl import SASL_CONFIGS
from ottla.configs.definitions.security import SECURITY_CONFIGS
from ottla.configs.definitions.tls import TLS_CONFIGS
from ottla.configs.exposure import exposure_warnings
from ottla.configs.status import Status
from ottla.configs.support import refusal_of
from tests.support.kafka.stock_properties import STOCK

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
EVERY = (*OAUTH_CONFIGS, *SASL_CONFIGS, *SECURITY_CONFIGS, *TLS_CONFIGS)
SSL = {"listeners": "SSL://localhost:9092", "security.inter.broker.protocol": "SSL"}
PEM = {"ssl.keystore.type": "PEM", "ssl.keystore.location": "/etc/node.pem"}


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("authorizer.class.name", "a.B", f"must be {AUTHORIZER}"),
        ("super.users", "User:admin", f"set authorizer.class.name={AUTHORIZER}"),
        ("allow.everyone.if.no.acl.found", "true", "no effect without an authorizer"),
        ("listener.name.plaintext.super.users", "User:admin", "applies to the whole node"),
        ("listener.name.plaintext.authorizer.class.name", AUTHORIZER, "applies to the whole node"),
        ("listener.name.PLAINTEXT.ssl.client.auth", "required", "in lower case"),
        ("principal.builder.class", "a.B", "cannot run Java classes"),
        ("listener.name.plaintext.principal.builder.class", "a.B", "cannot run Java classes"),
        ("listener.name.a.plain.sasl.server.callback.handler.class", "a.B", "cannot run Java"),
        ("sasl.login.class", "a.B", "cannot run Java classes"),
        ("sasl.oauthbearer.jwt.validator.class", "a.B", "cannot run Java classes"),
        ("sasl.oauthbearer.assertion.file", "/a", "not with a JWT assertion"),
        ("sasl.kerberos.service.name", "kafka", "does not support Kerberos"),
        ("security.providers", "a.B", "Ottla uses OpenSSL"),
        ("ssl.provider", "BCFIPS", "Ottla uses OpenSSL"),
        ("ssl.trustmanager.algorithm", "a.B", "would not enforce"),
        ("ssl.client.auht", "required", "neither Kafka nor Ottla has this security setting"),
        ("listener.name.a.plain.sasl.jaas.confg", "swordfish", "neither Kafka nor Ottla"),
        ("scram-sha-512.sasl.jaas.config", "swordfish", "neither Kafka nor Ottla"),
        ("ottla.ssl.crl", "/a", "neither Kafka nor Ottla"),
    ],
)
def test_settings_that_a_node_cannot_honor_are_refused(name: str, text: str, reason: str) -> None:
    with pytest.raises(InvalidConfigError) as refused:
        NodeConfig.of({name: text})
    message = refused.value.message
    assert message.startswith(name)
    assert reason in message
    assert "swordfish" not in message


def test_all_of_the_settings_are_named_at_once() -> None:
    with pytest.raises(InvalidConfigError, match=r"sasl\.login\.class, ssl\.engine\.factory"):
        NodeConfig.of({"ssl.engine.factory.class": "a.B", "sasl.login.class": "a.B"})


@pytest.mark.parametrize("definition", EVERY, ids=lambda definition: definition.name)
def test_defaults_are_never_refused(definition: object) -> None:
    name = getattr(definition, "name", "")
    default = BROKER_CONFIGS[name].default_text
    assert refusal_of(name, "" if default is None else default) is None
    assert refusal_of(f"listener.name.internal.{name}", default or "") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (definition.name, text)
        for definition in EVERY
        if definition.refusal is not None
        for text in definition.refusal.accepted
    ],
)
def test_kafkas_own_classes_are_accepted(name: str, text: str) -> None:
    assert BROKER_CONFIGS[name].status is Status.REFUSED
    assert refusal_of(name, text) is None
    assert refusal_of(f"listener.name.internal.oauthbearer.{name}", f" {text} ") is None


def test_handlers_that_accept_unsigned_tokens_are_refused() -> None:
    package = "org.apache.kafka.common.security.oauthbearer.internals.unsecured"
    for name, handler in (
        ("sasl.server.callback.handler.class", "OAuthBearerUnsecuredValidatorCallbackHandler"),
        ("sasl.login.callback.handler.class", "OAuthBearerUnsecuredLoginCallbackHandler"),
    ):
        setting = f"listener.name.a.oauthbearer.{name}"
        assert refusal_of(setting, f"{package}.{handler}") is not None


def test_an_authorizer_has_super_users() -> None:
    node = NodeConfig.of(
        {"authorizer.class.name": AUTHORIZER, "super.users": "User:admin; User:CN=a,O=b ;"}
    )
    assert node.super_users == ("User:admin", "User:CN=a,O=b")
    with pytest.raises(InvalidConfigError, match=r"super\.users must be principals such as"):
        NodeConfig.of({"authorizer.class.name": AUTHORIZER, "super.users": "admin"})


def test_settings_that_no_listener_uses_are_reported() -> None:
    unused = {
        "listener.name.other.ssl.keystore.location": "/a",
        "listener.name.plaintext.ssl.client.auth": "required",
        "sasl.enabled.mechanisms": "PLAIN",
        "ssl.client.auth": "required",
    }
    assert NodeConfig.of(unused).without_effect() == tuple(unused)
    node = NodeConfig.of(SSL | PEM | {"listener.name.ssl.ssl.client.auth": "none"})
    assert node.without_effect() == ()


def test_jaas_texts_without_a_listener_and_a_mechanism_are_reported() -> None:
    properties = {
        "listeners": "SASL_PLAINTEXT://localhost:9092",
        "security.inter.broker.protocol": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "sasl.jaas.config": "a",
        "listener.name.sasl_plaintext.sasl.jaas.config": "b",
        "listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config": "c",
    }
    assert NodeConfig.of(properties).without_effect() == (
        "listener.name.sasl_plaintext.sasl.jaas.config",
        "sasl.jaas.config",
    )


def test_kafkas_stock_properties_are_accepted() -> None:
    node = NodeConfig.from_properties(STOCK)
    assert node.unknown == ()
    assert [listener.security_protocol for listener in node.listeners.broker] == ["PLAINTEXT"]
    assert {each.protocol for each in node.listener_security.values()} == {"PLAINTEXT"}


def test_protocols_that_no_listener_uses_are_harmless() -> None:
    NodeConfig.of({"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OTHER:SSL"})


@pytest.mark.parametrize("listeners", ["SSL://:9092", "PLAINTEXT://:9092,SSL://:9093"])
def test_an_address_on_the_command_line_replaces_no_secured_listener(listeners: str) -> None:
    with pytest.raises(InvalidConfigError, match="write the address in listeners instead"):
        NodeConfig.of(PEM | {"listeners": listeners}, listen="127.0.0.1:9092")


MUTUAL = (
    SSL
    | PEM
    | {
        "listeners": "SSL://:9092",
        "ssl.client.auth": "required",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/a",
    }
)
SASL = {
    "listeners": "SASL_PLAINTEXT://:9092",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-512",
}
ACLS = {"authorizer.class.name": AUTHORIZER}
EVERYONE = "Clients are not authenticated on listeners that other machines may reach: "
IN_CLEAR = "Connections are not encrypted on listeners that other machines may reach: "
ALL_RIGHTS = "Every client that authenticates can read, change and delete all data"


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"listeners": "PLAINTEXT://127.0.0.1:0"}, []),
        ({"listeners": "PLAINTEXT://LOCALHOST:0"}, []),
        ({"listeners": "PLAINTEXT://[::1]:0"}, []),
        ({"listeners": "PLAINTEXT://:0"}, [f"{EVERYONE}PLAINTEXT (every interface). "]),
        ({"listeners": "PLAINTEXT://10.0.0.1:0"}, [f"{EVERYONE}PLAINTEXT (10.0.0.1). "]),
        (
            {"listeners": "PLAINTEXT://127.example.org:0"},
            [f"{EVERYONE}PLAINTEXT (127.example.org). "],
        ),
        (
            {"listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://:9093"},
            [f"{EVERYONE}CONTROLLER (every interface). "],
        ),
        (SSL | PEM | {"listeners": "SSL://:9092"}, [f"{EVERYONE}SSL (every interface). "]),
        (MUTUAL, [ALL_RIGHTS]),
        (MUTUAL | ACLS, []),
        (SASL, [f"{IN_CLEAR}SASL_PLAINTEXT (every interface). ", ALL_RIGHTS]),
        (SASL | ACLS, [f"{IN_CLEAR}SASL_PLAINTEXT (every interface). "]),
        (SASL | {"listeners": "SASL_PLAINTEXT://127.0.0.1:9092"}, []),
    ],
)
def test_listeners_that_others_can_use_or_read_are_named(
    properties: dict[str, str], expected: list[str]
) -> None:
    warnings = list(exposure_warnings(NodeConfig.of(properties)))
    assert len(warnings) == len(expected)
    for warning, text in zip(warnings, expected, strict=True):
        assert warning.startswith(text)


def test_a_listener_can_have_a_limit_of_its_own() -> None:
    node = NodeConfig.of({"listener.name.plaintext.max.connections": "5"})
    assert node.listener_max_connections == {"PLAINTEXT": 5}
    assert node.without_effect() == ()
    with pytest.raises(InvalidConfigError, match=r"listener\.name\.plaintext\.max\.connections"):
        NodeConfig.of({"listener.name.plaintext.max.connections": "few"})
