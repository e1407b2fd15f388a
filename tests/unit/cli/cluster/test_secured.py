"""The files of a secured cluster, without a node that runs."""

from __future__ import annotations

import ssl
import stat
import sys
from pathlib import Path

import pytest

from ottla.cli.client_security.command_config import read_command_config
from ottla.cli.cluster.layout import ClusterLayout, read_layout
from ottla.cli.cluster.local_profile import use_local_profile
from ottla.cli.cluster.making import NewCluster, make_cluster
from ottla.cli.cluster.status_run import local_access
from ottla.cli.cluster.up import find_or_make
from ottla.cli.connection.client_properties import cluster_settings_of
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.profiles import Profile, read_profiles, write_profiles
from ottla.cli.exit_codes import CommandError
from ottla.client_security.client_security import parse_client_security
from ottla.configs import NodeConfig
from ottla.configs.value import Password
from ottla.controller.bootstrap import read_bootstrap_records
from ottla.runtime.network import Address
from ottla.runtime.system_disk import SystemDisk
from ottla.runtime.tls.contexts import client_context, server_context
from ottla.security.sasl.scram_credential import ScramMechanism, make_credential
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord
from tests.support.captured_terminal import captured_terminal, said

pytest.importorskip("cryptography")

ANYWHERE = Address("127.0.0.1", 0)


@pytest.fixture(autouse=True)
def profiles_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def make(directory: Path, nodes: int = 3, advertised_host: str | None = None) -> ClusterLayout:
    return make_cluster(directory, NewCluster(nodes, ANYWHERE, advertised_host, {}, True))


def config_of(layout: ClusterLayout, index: int) -> NodeConfig:
    return NodeConfig.from_properties(layout.nodes[index].properties_file.read_text())


def password_of(layout: ClusterLayout) -> str:
    config = read_command_config(layout.client_properties_file)
    return parse_client_security(config.properties).properties["sasl.password"]


def test_every_listener_is_secured(tmp_path: Path) -> None:
    layout = make(tmp_path / "c")
    assert read_layout(tmp_path / "c") == layout
    config = config_of(layout, 1)
    security = config.listener_security
    assert {name: each.protocol for name, each in security.items()} == {
        "CLIENTS": "SASL_SSL",
        "INTERNAL": "SSL",
        "CONTROLLER": "SSL",
    }
    assert all(each.authenticates_clients for each in security.values())
    assert config.listeners.inter_broker_listener_name == "INTERNAL"
    clients = security["CLIENTS"].sasl
    assert clients is not None
    assert clients.enabled_mechanisms == ("SCRAM-SHA-512",)
    assert not config.unknown
    assert config["authorizer.class.name"] == (
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    )


def test_all_ports_differ(tmp_path: Path) -> None:
    layout = make(tmp_path / "c")
    ports = [
        listener.port
        for index in range(3)
        for config in (config_of(layout, index),)
        for listener in (*config.listeners.broker, *config.listeners.controller)
    ]
    assert len(set(ports)) == len(ports) == 9


def test_nodes_trust_only_each_other(tmp_path: Path) -> None:
    layout, other = make(tmp_path / "c", 2), make(tmp_path / "other", 1)
    first, second, foreign = config_of(layout, 0), config_of(layout, 1), config_of(other, 0)
    assert handshake(first, second) == ((("commonName", "node-2"),),)
    with pytest.raises(ssl.SSLError):
        handshake(first, foreign)
    with pytest.raises(ssl.SSLError):
        handshake(foreign, first)


def handshake(server: NodeConfig, client: NodeConfig) -> object:
    """The subject of the client's certificate, as the server sees it."""
    of_server, of_client = (each.listener_security["INTERNAL"].tls for each in (server, client))
    assert of_server is not None
    assert of_client is not None
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    accepting = server_context(of_server).wrap_bio(to_server, to_client, server_side=True)
    connecting = client_context(of_client).wrap_bio(
        to_client, to_server, server_hostname="127.0.0.1"
    )
    for _ in range(4):
        for side in (connecting, accepting):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    certificate = accepting.getpeercert()
    assert certificate is not None
    return certificate["subject"]


def test_the_admin_is_a_user_from_the_start(tmp_path: Path) -> None:
    layout = make(tmp_path / "c")
    (record,) = {
        record.name: record
        for node in layout.nodes
        for record in read_bootstrap_records(SystemDisk(), str(node.data_directory))
        if isinstance(record, UserScramCredentialRecord)
    }.values()
    assert record.name == "admin"
    expected = make_credential(
        ScramMechanism.SCRAM_SHA_512,
        Password(password_of(layout)),
        salt=bytes(record.salt),
        iterations=record.iterations,
    )
    assert bytes(record.stored_key) == expected.stored_key
    assert "User:admin" in layout.nodes[0].properties_file.read_text()


def test_secrets_are_their_owners_and_no_others(tmp_path: Path) -> None:
    layout = make(tmp_path / "c")
    private = [
        layout.client_properties_file,
        *(node.properties_file for node in layout.nodes),
        *(tmp_path / "c" / "certs").glob("*.key"),
        *(tmp_path / "c" / "certs").glob("*.keystore.pem"),
    ]
    assert len(private) == 1 + 3 + 4 + 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}
    password = password_of(layout)
    holding = [
        path
        for path in (tmp_path / "c").rglob("*")
        if path.is_file() and password.encode() in path.read_bytes()
    ]
    assert holding == [layout.client_properties_file]
    assert password_of(make(tmp_path / "d")) != password


def test_every_client_can_use_the_file(tmp_path: Path) -> None:
    layout = make(tmp_path / "c", advertised_host="localhost")
    config = read_command_config(layout.client_properties_file)
    assert config.bootstrap == ",".join(f"localhost:{node.address.port}" for node in layout.nodes)
    found = parse_client_security(config.properties).properties
    assert found["ssl.ca.location"] == str(tmp_path / "c" / "certs" / "ca.pem")
    security = cluster_settings_of(local_access(layout)).security
    assert security.tls is not None
    assert security.mechanism is not None


def test_a_profile_makes_commands_find_the_cluster(tmp_path: Path) -> None:
    layout, terminal = make(tmp_path / "my cluster"), captured_terminal()
    use_local_profile(terminal, layout)
    assert read_profiles().current == "my-cluster"
    access = resolve(ClusterOptions())
    assert access.bootstrap == layout.bootstrap
    assert access.security.protocol == "SASL_SSL"
    assert password_of(layout) not in said(terminal)
    # Again, and after another one of the same name.
    use_local_profile(terminal, layout)
    assert list(read_profiles().by_name) == ["my-cluster"]
    other = make(tmp_path / "other" / "my cluster")
    use_local_profile(terminal, other)
    profiles = read_profiles()
    assert list(profiles.by_name) == ["my-cluster", "my-cluster-2"]
    assert profiles.current == "my-cluster-2"


def test_profiles_of_others_stay(tmp_path: Path) -> None:
    profiles = read_profiles()
    profiles.by_name["c"] = Profile("c", "kafka:9092")
    write_profiles(profiles)
    use_local_profile(captured_terminal(), make(tmp_path / "c", 1))
    assert read_profiles().by_name["c"] == Profile("c", "kafka:9092")


def test_a_cluster_without_security_does_not_get_it_later(tmp_path: Path) -> None:
    make_cluster(tmp_path / "c", NewCluster(1, ANYWHERE, None, {}))
    with pytest.raises(CommandError, match="it is not secured"):
        find_or_make(
            tmp_path / "c", nodes=None, listen=None, advertise=None, settings=(), is_secured=True
        )


def test_nothing_is_made_without_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(CommandError, match="cryptography") as raised:
        make(tmp_path / "c")
    assert "ottla[security]" in raised.value.hints[0]
    assert not (tmp_path / "c").exists()
