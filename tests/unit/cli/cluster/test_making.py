"""A new cluster's files, without a node that runs."""

from __future__ import annotations

import socket  # noqa: TID251  a port that is in use
from pathlib import Path

import pytest

from ottla.cli.cluster.layout import parse_listen, read_layout
from ottla.cli.cluster.making import NewCluster, make_cluster
from ottla.cli.cluster.state import read_state
from ottla.cli.cluster.up import find_or_make
from ottla.cli.exit_codes import CommandError
from ottla.configs import NodeConfig
from ottla.controller.snapshot_file import read_snapshot
from ottla.runtime.network import Address
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.wire.stored.quorum import VotersRecord

ANYWHERE = Address("127.0.0.1", 0)
BEFORE_THE_LOG = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


def new_cluster(nodes: int = 3, **settings: str) -> NewCluster:
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return NewCluster(nodes, ANYWHERE, None, named)


def test_every_node_knows_the_same_voters_by_their_directories(tmp_path: Path) -> None:
    layout = make_cluster(tmp_path, new_cluster())
    disk = SystemDisk()
    identities = [read_meta_properties(disk, str(node.data_directory)) for node in layout.nodes]
    assert {identity.cluster_id for identity in identities if identity} == {
        read_state(layout.state_file).cluster_id
    }
    for node in layout.nodes:
        batches = read_snapshot(disk, str(node.data_directory / BEFORE_THE_LOG))
        (voters,) = [
            record
            for batch in batches
            for record in batch.records
            if isinstance(record, VotersRecord)
        ]
        assert [voter.voter_directory_id for voter in voters.voters] == [
            identity.directory_id for identity in identities if identity
        ]
        assert [voter.endpoints[0].port for voter in voters.voters] == [
            each.controller_address.port for each in layout.nodes
        ]


def test_nodes_have_ports_in_a_row(tmp_path: Path) -> None:
    layout = make_cluster(tmp_path, new_cluster())
    first = layout.nodes[0].address.port
    assert [node.address.port for node in layout.nodes] == [first, first + 1, first + 2]
    every = {node.address.port for node in layout.nodes}
    assert every.isdisjoint(node.controller_address.port for node in layout.nodes)


@pytest.mark.parametrize(
    ("nodes", "factor", "minimum"), [(1, 1, 1), (2, 2, 1), (3, 3, 2), (5, 3, 2)]
)
def test_replicas_are_as_many_as_can_be_up_to_three(
    tmp_path: Path, nodes: int, factor: int, minimum: int
) -> None:
    layout = make_cluster(tmp_path, new_cluster(nodes))
    config = NodeConfig.from_properties(layout.nodes[-1].properties_file.read_text())
    assert config.default_replication_factor == factor
    assert config.min_insync_replicas == minimum
    assert config["offsets.topic.replication.factor"] == factor
    assert not config.is_standalone


def test_a_cluster_is_found_again_as_it_was_made(tmp_path: Path) -> None:
    made = make_cluster(tmp_path, new_cluster(num_partitions="5"))
    assert read_layout(tmp_path) == made
    config = NodeConfig.from_properties(made.nodes[0].properties_file.read_text())
    assert config.num_partitions == 5


def find(directory: Path, nodes: int | None = None, listen: str | None = None) -> None:
    find_or_make(directory, nodes=nodes, listen=listen, advertise=None, settings=())


def test_what_an_old_cluster_is_not_is_refused(tmp_path: Path) -> None:
    layout = make_cluster(tmp_path, new_cluster())
    find(tmp_path)
    find(tmp_path, nodes=3, listen=f"127.0.0.1:{layout.nodes[0].address.port}")
    with pytest.raises(CommandError, match="it has 3 nodes"):
        find(tmp_path, nodes=4)
    with pytest.raises(CommandError, match="it listens on"):
        find(tmp_path, listen="127.0.0.1:1")


def test_settings_that_cannot_be_leave_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"num\.partitions"):
        make_cluster(tmp_path / "new", new_cluster(num_partitions="none"))
    assert not (tmp_path / "new").exists()


def test_half_a_cluster_is_not_made_whole(tmp_path: Path) -> None:
    (tmp_path / "node-1").mkdir()
    with pytest.raises(CommandError, match="creation was interrupted"):
        make_cluster(tmp_path, new_cluster())


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        wanted = NewCluster(1, Address("127.0.0.1", port), None, {})
        with pytest.raises(CommandError, match=f"these are in use: .*{port}"):
            make_cluster(tmp_path, wanted)


def test_every_interface_needs_something_to_advertise(tmp_path: Path) -> None:
    wanted = NewCluster(1, Address("0.0.0.0", 0), None, {})
    with pytest.raises(CommandError, match=r"advertised\.listeners"):
        make_cluster(tmp_path, wanted)
    layout = make_cluster(tmp_path, wanted.__class__(1, wanted.listen, "localhost", {}))
    assert layout.nodes[0].address.port == read_layout(tmp_path).nodes[0].address.port


@pytest.mark.parametrize("text", ["9092", "host:", "host:99999", "host:x"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="not an address to listen on"):
        parse_listen(text)


def test_addresses_may_be_of_version_six() -> None:
    assert parse_listen("[::1]:9092") == Address("::1", 9092)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"num.partitons": "3"}, "did you mean num.partitions?"),
        ({"ssl.provider": "BCFIPS"}, "ssl.provider: Ottla uses OpenSSL"),
    ],
)
def test_settings_that_have_no_effect_are_refused(
    tmp_path: Path, settings: dict[str, str], complaint: str
) -> None:
    with pytest.raises(CommandError) as refused:
        make_cluster(tmp_path, NewCluster(1, ANYWHERE, None, settings))
    assert complaint in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_directory_without_a_cluster_names_the_option_for_another(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as raised:
        read_layout(tmp_path)
    assert "--data-dir" in raised.value.hints[0]
    assert "OTTLA_CLUSTER_DIR" in raised.value.hints[0]
