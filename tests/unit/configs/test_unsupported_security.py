"""A configuration that promises security is refused until there is some."""

import pytest

from ottla.configs import BROKER_CONFIGS, InvalidConfigError, NodeConfig
from ottla.configs.definitions.sasl import SASL_CONFIGS
from ottla.configs.definitions.security import SECURITY_CONFIGS
from ottla.configs.status import NO_SECURITY
from ottla.configs.support import refusal_of
from ottla.testing import Cluster

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
# What Kafka 4.3's own config/server.properties sets.
STOCK = """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,\
SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=2
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""


@pytest.mark.parametrize(
    ("listeners", "protocols", "protocol"),
    [
        ("SSL://:9092", None, "SSL"),
        ("SASL_SSL://:9092", None, "SASL_SSL"),
        ("PLAINTEXT://:9092,sasl_plaintext://:9094", None, "SASL_PLAINTEXT"),
        ("PLAINTEXT://:9092", "PLAINTEXT:SSL", "SSL"),
        ("INSIDE://:9092", "INSIDE:SASL_SSL,OUTSIDE:PLAINTEXT", "SASL_SSL"),
        (
            "PLAINTEXT://:9092,CONTROLLER://:9093",
            "PLAINTEXT:PLAINTEXT,CONTROLLER:SSL",
            "SSL",
        ),
        ("SSL://:9092,CONTROLLER://:9093", None, "SSL"),
    ],
)
@pytest.mark.parametrize("listen", [None, "127.0.0.1:9092"])
def test_listeners_that_are_not_plaintext_are_refused(
    listeners: str, protocols: str | None, protocol: str, listen: str | None
) -> None:
    properties = {"listeners": listeners}
    if protocols is not None:
        properties["listener.security.protocol.map"] = protocols
    with pytest.raises(InvalidConfigError) as refused:
        NodeConfig.of(properties, listen=listen)
    message = refused.value.message
    assert f"whose security protocol is {protocol}: " in message
    assert message.startswith("listeners has ")
    assert "use a PLAINTEXT listener" in message


def test_brokers_do_not_connect_to_secured_controllers() -> None:
    properties = {
        "process.roles": "broker",
        "listeners": "PLAINTEXT://:9092",
        "controller.quorum.bootstrap.servers": "c1:9093",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:SSL",
    }
    with pytest.raises(InvalidConfigError, match=r"controller\.listener\.names has CONTROLLER"):
        NodeConfig.of(properties)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("allow.everyone.if.no.acl.found", "false"),
        ("authorizer.class.name", AUTHORIZER),
        ("connections.max.reauth.ms", "1000"),
        ("delegation.token.secret.key", "secret"),
        ("listener.name.plaintext.plain.sasl.jaas.config", "secret"),
        ("listener.name.plaintext.oauthbearer.sasl.oauthbearer.scope", "read"),
        ("listener.name.plaintext.ssl.client.auth", "required"),
        ("listener.name.plaintext.principal.builder.class", "a.B"),
        ("principal.builder.class", "a.B"),
        ("sasl.enabled.mechanisms", "PLAIN"),
        ("sasl.mechanism.controller.protocol", "PLAIN"),
        ("security.inter.broker.protocol", "SSL"),
        ("security.providers", "a.B"),
        ("ssl.client.auth", "required"),
        ("ssl.client.auht", "required"),
        ("ssl.keystore.location", "/no/such/file"),
        ("super.users", "User:admin"),
    ],
)
def test_settings_that_promise_security_are_refused(name: str, text: str) -> None:
    with pytest.raises(InvalidConfigError) as refused:
        NodeConfig.of({name: text})
    message = refused.value.message
    assert message.startswith(f"{name}: Ottla does not support encryption")
    assert "remove them" in message
    assert "secret" not in message.removeprefix(name)


def test_all_of_the_settings_are_named_at_once() -> None:
    with pytest.raises(InvalidConfigError, match=r"authorizer\.class\.name, super\.users: "):
        NodeConfig.of({"super.users": "User:a", "authorizer.class.name": AUTHORIZER})


KERBEROS_RENEWAL = {
    "sasl.kerberos.min.time.before.relogin": "58000",
    "sasl.kerberos.ticket.renew.jitter": "0.1",
    "sasl.kerberos.ticket.renew.window.factor": "0.7",
}


def test_how_a_kerberos_login_is_renewed_promises_nothing() -> None:
    assert NodeConfig.of(KERBEROS_RENEWAL)


@pytest.mark.parametrize(
    "name",
    [row.name for row in (*SECURITY_CONFIGS, *SASL_CONFIGS) if row.name not in KERBEROS_RENEWAL],
)
def test_every_security_setting_of_kafkas_is_known(name: str) -> None:
    assert refusal_of(name, "something else") is NO_SECURITY
    assert refusal_of(f"listener.name.internal.{name}", "something else") is NO_SECURITY
    default = BROKER_CONFIGS[name].default_text
    assert refusal_of(name, "" if default is None else default) is None


def test_kafkas_defaults_promise_nothing() -> None:
    node = NodeConfig.of(
        {
            "sasl.enabled.mechanisms": "GSSAPI",
            "security.inter.broker.protocol": "PLAINTEXT",
            "ssl.client.auth": "none",
            "ssl.enabled.protocols": "TLSv1.2,TLSv1.3",
            "ssl.keystore.location": "",
            "super.users": "",
            "listener.name.plaintext.ssl.client.auth": " none ",
        }
    )
    assert node.listeners.inter_broker_listener_name == "PLAINTEXT"


def test_kafkas_stock_properties_are_accepted() -> None:
    node = NodeConfig.from_properties(STOCK)
    assert node.unknown == ()
    assert [listener.security_protocol for listener in node.listeners.broker] == ["PLAINTEXT"]


def test_protocols_that_no_listener_uses_are_harmless() -> None:
    NodeConfig.of({"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:SSL"})


@pytest.mark.parametrize(
    "properties", [{"listeners": "SSL://:0"}, {"ssl.client.auth": "required"}], ids=str
)
def test_clusters_inside_tests_are_checked_too(properties: dict[str, str]) -> None:
    with pytest.raises(InvalidConfigError, match=next(iter(properties))):
        Cluster(properties=properties).start()
