"""Security configs of running brokers (KIP-226)."""

import pytest

from ottla.configs import NodeConfig, Store, describe_broker, validate_broker_configs
from ottla.configs.value import Password
from ottla.model import ErrorCode, KafkaError

PREFIX = "listener.name.ssl."
NODE = NodeConfig.of(
    {
        "listeners": "SSL://localhost:9092",
        "security.inter.broker.protocol": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": "/etc/old.pem",
    }
)


def keystore(node: NodeConfig) -> Store | None:
    tls = node.listener_security["SSL"].tls
    assert tls is not None
    return tls.keystore


def test_a_running_broker_is_given_another_key_store() -> None:
    configs = {f"{PREFIX}ssl.keystore.location": "/etc/new.pem"}
    validate_broker_configs(configs, node=NODE, per_broker=True)
    node = NODE.with_dynamic(cluster={}, broker=configs)
    assert node.ignored == {}
    assert keystore(node) == Store("PEM", location="/etc/new.pem")
    assert node.listeners == NODE.listeners
    assert keystore(node.with_dynamic(cluster={}, broker={})) == keystore(NODE)


def test_a_running_broker_is_given_a_pkcs12_file() -> None:
    configs = {
        f"{PREFIX}ssl.keystore.type": "PKCS12",
        f"{PREFIX}ssl.keystore.location": "/etc/new.p12",
        f"{PREFIX}ssl.keystore.password": "swordfish",
    }
    validate_broker_configs(configs, node=NODE, per_broker=True)
    node = NODE.with_dynamic(cluster={}, broker=configs)
    assert keystore(node) == Store(
        "PKCS12", location="/etc/new.p12", password=Password("swordfish")
    )
    assert "swordfish" not in repr(node)
    assert "swordfish" not in repr(describe_broker(node))


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({f"{PREFIX}ssl.keystore.type": "JKS"}, "keytool -importkeystore"),
        ({f"{PREFIX}ssl.keystore.password": "swordfish"}, "does not apply to PEM"),
        (
            {f"{PREFIX}ssl.truststore.type": "PEM", f"{PREFIX}ssl.truststore.location": "/a"},
            "A trust store cannot be added to listener SSL while the broker runs",
        ),
        ({f"{PREFIX}ssl.enabled.protocols": "TLSv1.3"}, "except its key store"),
        ({f"{PREFIX}ssl.client.auth": "required"}, "ssl.client.auth=required needs"),
        ({"ssl.keystore.location": "/a"}, "only for one listener"),
        ({"listener.security.protocol.map": "SSL:PLAINTEXT"}, "cannot change while the broker"),
        ({"authorizer.class.name": "a.B"}, "authorizer.class.name"),
        ({"super.users": "User:a"}, "super.users"),
        ({f"{PREFIX}super.users": "User:a"}, "applies to the whole node"),
        ({"listener.name.SSL.ssl.keystore.location": "/a"}, "in lower case"),
    ],
    ids=str,
)
def test_what_a_running_broker_cannot_change_is_refused(
    configs: dict[str, str], message: str
) -> None:
    with pytest.raises(KafkaError) as refused:
        validate_broker_configs(configs, node=NODE, per_broker=True)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert message in refused.value.message
    assert "swordfish" not in refused.value.message


def test_key_stores_are_not_set_for_the_whole_cluster() -> None:
    configs = {f"{PREFIX}ssl.keystore.location": "/etc/new.pem"}
    with pytest.raises(KafkaError, match="name a broker"):
        validate_broker_configs(configs, node=NODE, per_broker=False)


def test_passwords_are_not_described() -> None:
    node = NodeConfig.of(
        {
            "delegation.token.secret.key": "swordfish",
            "sasl.oauthbearer.client.credentials.client.secret": "swordfish",
            "ssl.keystore.key": "swordfish",
            "listener.name.plaintext.ssl.keystore.password": "swordfish",
            "listener.name.a.plain.sasl.jaas.config": "swordfish",
            "listener.name.a.oauthbearer.sasl.oauthbearer.client.credentials.client.secret": (
                "swordfish"
            ),
        }
    )
    described = describe_broker(node)
    hidden = [entry for entry in described if entry.name in node.layers.static]
    assert sum(entry.is_sensitive for entry in hidden) == 6
    assert "swordfish" not in repr((node, described, node.without_effect()))
