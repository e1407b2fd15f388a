"""`ottla format`, in one process."""

from base64 import b64encode
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ottla.cli.main import make_app
from ottla.configs.java_properties import format_properties
from ottla.configs.value import Password
from ottla.controller.bootstrap import read_bootstrap_records
from ottla.model import uuid_from_text, uuid_to_text
from ottla.runtime.system_disk import SystemDisk
from ottla.security.sasl.scram_credential import (
    ScramMechanism,
    make_credential,
    salt_password,
)
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
CONTROLLERS = "1@h1:9093:JEXY6aqzQY-32P5TStzaFg,2@h2:9093:MvDxzVmcRsaTz33bUuRU6A"
BEFORE_THE_LOG = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


class Formatter:
    """A node's properties file, and `ottla format` over it."""

    def __init__(self, folder: Path) -> None:
        self.directory = folder / "data"
        self.properties = {
            "node.id": "1",
            "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
            "controller.quorum.bootstrap.servers": "localhost:9093",
            "log.dirs": str(self.directory),
        }
        self._file = folder / "server.properties"

    def run(self, *options: str, exit_code: int = 0) -> Result:
        self._file.write_text(format_properties(self.properties))
        arguments = ["format", "--config", str(self._file), *options]
        result = CliRunner().invoke(make_app("format"), arguments, catch_exceptions=False)
        assert result.exit_code == exit_code, result.output
        return result

    @property
    def has_voters(self) -> bool:
        return (self.directory / BEFORE_THE_LOG).exists()


@pytest.fixture
def formatter(tmp_path: Path) -> Formatter:
    return Formatter(tmp_path)


def test_new_ids_are_uuids() -> None:
    result = CliRunner().invoke(make_app("format"), ["format", "--new-cluster-id"])
    assert uuid_from_text(result.stdout.strip())


@pytest.mark.parametrize(
    ("options", "has_voters"),
    [
        (("--standalone",), True),
        (("--initial-controllers", CONTROLLERS), True),
        (("--no-initial-controllers",), False),
    ],
)
def test_a_controller_is_formatted(
    formatter: Formatter, options: tuple[str, ...], has_voters: bool
) -> None:
    result = formatter.run("--cluster-id", CLUSTER_ID, *options)
    assert f"formatted metadata directory {formatter.directory}" in result.stdout
    assert formatter.has_voters == has_voters
    identity = read_meta_properties(SystemDisk(), str(formatter.directory))
    assert identity is not None
    assert identity.directory_id is not None
    assert identity.cluster_id == CLUSTER_ID
    if "--initial-controllers" in options:
        assert uuid_to_text(identity.directory_id) == "JEXY6aqzQY-32P5TStzaFg"


def test_brokers_and_members_of_a_static_quorum_need_no_option(formatter: Formatter) -> None:
    formatter.properties["controller.quorum.voters"] = "1@h1:9093,2@h2:9093"
    formatter.run("-t", CLUSTER_ID)
    assert not formatter.has_voters
    formatter.run("-t", CLUSTER_ID, "--standalone", exit_code=2)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ((), "--cluster-id ID is missing"),
        (("-t", CLUSTER_ID), "name the first controllers"),
        (("-t", CLUSTER_ID, "-s", "-N"), "contradict each other"),
        (("-t", CLUSTER_ID, "-I", "1@h1"), "is not a controller"),
    ],
)
def test_wrong_usage_says_what_is_wrong(
    formatter: Formatter, options: tuple[str, ...], complaint: str
) -> None:
    assert complaint in formatter.run(*options, exit_code=2).stderr
    assert not formatter.directory.exists()


def test_what_is_formatted_is_not_formatted_again(formatter: Formatter) -> None:
    formatter.run("-t", CLUSTER_ID, "-s")
    again = formatter.run("-t", CLUSTER_ID, "-s", exit_code=1)
    assert "Formatted already: " in again.stderr
    ignored = formatter.run("-t", CLUSTER_ID, "-s", "--ignore-formatted")
    assert "All directories are formatted" in ignored.stderr
    other = formatter.run("-t", "another", "-s", "--ignore-formatted", exit_code=1)
    assert "belongs to node 1 of cluster" in other.stderr


def test_a_broken_file_is_named(formatter: Formatter) -> None:
    formatter.properties["process.roles"] = "leader"
    assert "process.roles" in formatter.run("-t", CLUSTER_ID, exit_code=2).stderr


def test_an_unsupported_configuration_is_not_formatted(formatter: Formatter) -> None:
    formatter.properties["authorizer.class.name"] = "a.B"
    refused = formatter.run("-t", CLUSTER_ID, "-s", exit_code=2)
    assert "authorizer.class.name must be org.apache" in refused.stderr.replace("\n", " ")
    assert not formatter.directory.exists()


def test_a_directory_with_foreign_files_is_not_formatted(formatter: Formatter) -> None:
    formatter.directory.mkdir()
    (formatter.directory / "photo.jpg").touch()
    refused = formatter.run("-t", CLUSTER_ID, "-s", exit_code=1)
    assert "holds files that are not Kafka's: photo.jpg" in refused.stderr.replace("\n", " ")
    assert [each.name for each in formatter.directory.iterdir()] == ["photo.jpg"]


def users_of(formatter: Formatter) -> list[UserScramCredentialRecord]:
    records = read_bootstrap_records(SystemDisk(), str(formatter.directory))
    return [record for record in records if isinstance(record, UserScramCredentialRecord)]


def test_users_are_in_the_bootstrap_snapshot(formatter: Formatter) -> None:
    alice = "SCRAM-SHA-256=[name=alice,password=alice's secret]"
    salted = salt_password("sha512", Password("bob's"), salt=b"some salt", iterations=8192)
    bob = (
        f'SCRAM-SHA-512=[name=bob, iterations=8192, salt="{b64encode(b"some salt").decode()}",'
        f'saltedpassword="{b64encode(salted).decode()}"]'
    )
    formatter.run("-t", CLUSTER_ID, "-s", "--add-scram", alice, "-S", bob)
    first, second = users_of(formatter)
    assert (first.name, first.mechanism, first.iterations) == ("alice", 1, 4096)
    credential = make_credential(
        ScramMechanism.SCRAM_SHA_256, Password("alice's secret"), salt=bytes(first.salt)
    )
    assert bytes(first.stored_key) == credential.stored_key
    assert bytes(first.server_key) == credential.server_key
    expected = make_credential(
        ScramMechanism.SCRAM_SHA_512, Password("bob's"), salt=b"some salt", iterations=8192
    )
    assert (second.name, second.mechanism, second.iterations) == ("bob", 2, 8192)
    assert bytes(second.stored_key) == expected.stored_key


@pytest.mark.parametrize(
    ("user", "complaint"),
    [
        ("SCRAM-SHA-256", "MECHANISM=[...]"),
        ("scram-sha-256=[name=a,password=hunter2]", "must be SCRAM-SHA-256 or SCRAM-SHA-512"),
        ("SCRAM-SHA-256=[password=hunter2]", "name=... is missing"),
        ("SCRAM-SHA-256=[name=a]", "either password=... or saltedpassword="),
        ("SCRAM-SHA-256=[name=a,password=hunter2,saltedpassword=eA==]", "either password="),
        ("SCRAM-SHA-256=[name=a,saltedpassword=eA==]", "needs salt="),
        ("SCRAM-SHA-256=[name=a,salt=eA==,saltedpassword=eA==]", "must have 32 bytes"),
        ("SCRAM-SHA-256=[name=a,password=hunter2,salt=hunter2]", "salt is not Base64"),
        ("SCRAM-SHA-256=[name=a,password=hunter2,iterations=many]", "must be a number"),
        ("SCRAM-SHA-256=[name=a,password=hunter2,iterations=99]", "from 4096 to 16384"),
        ("SCRAM-SHA-256=[name=a,password=hunter2,user=b]", "an item has an unknown name"),
        ("SCRAM-SHA-256=[name=a,password=hunter2,]", "not of the form NAME=VALUE"),
        ("SCRAM-SHA-256=[name=a,name=b,password=hunter2]", "name is given twice"),
    ],
)
def test_users_that_cannot_be_are_refused_without_their_passwords(
    formatter: Formatter, user: str, complaint: str
) -> None:
    refused = formatter.run("-t", CLUSTER_ID, "-s", "--add-scram", user, exit_code=2)
    assert complaint in refused.stderr
    assert "hunter2" not in refused.stderr
    assert not formatter.directory.exists()


def test_a_user_has_one_credential_of_a_mechanism(formatter: Formatter) -> None:
    alice = "SCRAM-SHA-256=[name=alice,password=x]"
    refused = formatter.run("-t", CLUSTER_ID, "-s", "-S", alice, "-S", alice, exit_code=2)
    assert "alice is given twice" in refused.stderr
