import typing
from contextlib import nullcontext

import pytest

from ottla.configs import (
    BROKER_CONFIGS,
    DYNAMIC_BROKER_CONFIGS,
    ConfigLayers,
    ConfiguredListener,
    InvalidConfigError,
    NodeConfig,
    Password,
)
from ottla.configs.listener_values import ListenerValues
from ottla.configs.node_settings import NodeSettings
from ottla.configs.quorum_addresses import ControllerAddress, ControllerVoter
from ottla.configs.setting import Setting
from tests.support.kafka.config_fixtures import Verdict, verdicts

SERVER_PROPERTIES = """\
# As Kafka ships it, more or less.
process.roles=broker,controller
node.id = 7
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL
log.dirs=/var/lib/one,\\
         /var/lib/two
num.partitions=3
zookeeper.connect=localhost:2181
listener.name.plaintext.max.connections=5
"""


def test_a_directory_and_an_address_are_enough() -> None:
    node = NodeConfig.of({}, data_dir="/data", listen="127.0.0.1:9092")
    assert node.log_dirs == ("/data",)
    assert node.metadata_log_dir == "/data"
    assert node.node_id == 1
    assert node.process_roles == ("broker", "controller")
    assert node.listeners.broker == (
        ConfiguredListener("PLAINTEXT", "127.0.0.1", 9092, "PLAINTEXT"),
    )
    assert node.listeners.advertised == node.listeners.broker
    assert node.listeners.controller == ()
    assert node.num_partitions == node.default_replication_factor == 1
    assert node.auto_create_topics_enable
    assert node.broker_rack is None
    assert node.unknown == ()


def test_kafkas_properties_file_is_read() -> None:
    node = NodeConfig.from_properties(SERVER_PROPERTIES)
    assert node.node_id == node.broker_id == 7
    assert node.log_dirs == ("/var/lib/one", "/var/lib/two")
    assert node.num_partitions == 3
    assert [listener.port for listener in node.listeners.broker] == [9092]
    assert [listener.port for listener in node.listeners.controller] == [9093]
    assert [listener.host for listener in node.listeners.advertised] == ["localhost"]
    assert node.unknown == ("zookeeper.connect",)


def test_the_command_line_goes_before_the_file() -> None:
    node = NodeConfig.from_properties(SERVER_PROPERTIES, data_dir="/here", listen="[::1]:0")
    assert node.log_dirs == ("/here",)
    assert node.listeners.broker == (ConfiguredListener("PLAINTEXT", "::1", 0, "PLAINTEXT"),)


def test_a_broker_id_is_a_node_id() -> None:
    assert NodeConfig.of({"broker.id": "4"}).node_id == 4


def test_refusals_name_the_property() -> None:
    for name, text in (
        ("num.partitions", "none"),
        ("listeners", "9092"),
        ("log.dirs", ""),
        ("queued.max.request.bytes", "5"),
        ("max.connections.per.ip.overrides", "nowhere"),
    ):
        with pytest.raises(InvalidConfigError) as refused:
            NodeConfig.of({name: text})
        assert name in refused.value.message


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]"])
def test_an_address_that_means_every_interface_is_not_advertised(host: str) -> None:
    with pytest.raises(
        InvalidConfigError, match=r"set advertised\.listeners \(or --advertise\) to an"
    ):
        NodeConfig.of({}, listen=f"{host}:9092")
    node = NodeConfig.of({"advertised.listeners": "PLAINTEXT://me:9092"}, listen=f"{host}:9092")
    assert node.listeners.advertised[0].host == "me"


@pytest.mark.parametrize("listen", ["localhost", "localhost:99999", "local host:1", ":", "a:b"])
def test_an_address_that_is_none_is_refused(listen: str) -> None:
    with pytest.raises(InvalidConfigError, match="NAME://HOST:PORT"):
        NodeConfig.of({}, listen=listen)


def test_a_node_with_a_configured_quorum_is_not_standalone() -> None:
    alone = NodeConfig.of({})
    assert alone.is_standalone
    assert alone.is_broker
    assert alone.is_controller
    member = NodeConfig.of(
        {
            "listeners": "PLAINTEXT://:9092,CONTROLLER://c1:9093",
            "advertised.listeners": "PLAINTEXT://b1:9092",
            "controller.quorum.voters": "2@[::1]:9093,1@c1:9093",
            "controller.quorum.bootstrap.servers": "c1:9093,c2:9093",
        }
    )
    assert not member.is_standalone
    assert member.controller_quorum_voters == (
        ControllerVoter(1, "c1", 9093),
        ControllerVoter(2, "::1", 9093),
    )
    assert member.controller_quorum_bootstrap_servers == (
        ControllerAddress("c1", 9093),
        ControllerAddress("c2", 9093),
    )
    assert member.listeners.controller_names == ("CONTROLLER",)
    assert [listener.host for listener in member.listeners.advertised_controller] == ["c1"]
    assert member.broker_session_timeout_ms == 9_000


def test_an_unreachable_voter_is_refused() -> None:
    # Kafka takes the config, and refuses when the quorum starts.
    with pytest.raises(InvalidConfigError, match="write an address that the others can reach"):
        NodeConfig.of(
            {
                "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
                "controller.quorum.voters": "1@0.0.0.0:9093",
            }
        )


def test_a_controller_on_every_interface_is_found_under_the_machines_name() -> None:
    node = NodeConfig.of({"listeners": "PLAINTEXT://:9092,CONTROLLER://0.0.0.0:9093"})
    assert [listener.host for listener in node.listeners.advertised_controller] == [""]


def test_an_address_on_the_command_line_leaves_the_controllers_listener() -> None:
    node = NodeConfig.from_properties(SERVER_PROPERTIES, listen="127.0.0.1:1")
    assert [listener.port for listener in node.listeners.broker] == [1]
    assert [listener.port for listener in node.listeners.controller] == [9093]


def test_secrets_are_not_shown_by_repr() -> None:
    node = NodeConfig.of({"my.secret": "swordfish"})
    assert "swordfish" not in repr(node)
    assert "swordfish" not in repr(ConfigLayers({"ssl.key.password": "swordfish"}))


def test_more_connections_can_be_allowed_to_some() -> None:
    node = NodeConfig.of({"max.connections.per.ip.overrides": "a:1, b.example:22"})
    assert node.max_connections_per_ip_overrides == {"a": 1, "b.example": 22}
    assert NodeConfig.of({}).max_connections_per_ip_overrides == {}


@pytest.mark.parametrize("verdict", verdicts("static"), ids=str)
def test_nodes_are_refused_where_kafka_refuses_them(verdict: Verdict) -> None:
    with pytest.raises(InvalidConfigError) if verdict.refusal else nullcontext():
        NodeConfig.of(verdict.question["configs"])


def test_attributes_have_the_types_of_their_configs() -> None:
    python_types: dict[str, object] = {"BOOLEAN": bool, "STRING": str, "INT": int, "LONG": int}
    python_types |= {"SHORT": int, "DOUBLE": float, "LIST": tuple[str, ...], "PASSWORD": Password}
    settings = [
        value
        for owner in (NodeSettings, ListenerValues)
        for value in vars(owner).values()
        if isinstance(value, Setting)
    ]
    assert len(settings) > 100
    for setting in settings:
        definition = {**BROKER_CONFIGS, **DYNAMIC_BROKER_CONFIGS}[setting.name]
        [declared] = typing.get_args(setting.__orig_class__)  # type: ignore[attr-defined]
        expected = python_types[definition.type.name]
        if definition.default is None and not definition.is_required:
            expected = expected | None  # type: ignore[operator]
        assert declared == expected, setting.name
