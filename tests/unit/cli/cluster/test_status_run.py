"""Which cluster `ottla cluster status` shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ottla.cli.cluster.defaults import DEFAULT_DIR
from ottla.cli.cluster.making import NewCluster, make_cluster
from ottla.cli.cluster.status_run import chosen_layout
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.profiles import Profile, Profiles, write_profiles
from ottla.cli.exit_codes import CommandError
from ottla.runtime.network import Address

NOTHING = ClusterOptions(has_own_bootstrap=False, has_own_profile=False)
OF_THE_ENVIRONMENT = ClusterOptions("kafka:9092", has_own_bootstrap=False, has_own_profile=False)
OF_THE_COMMAND_LINE = ClusterOptions("kafka:9092", has_own_profile=False)


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def make(directory: Path) -> None:
    make_cluster(directory, NewCluster(1, Address("127.0.0.1", 0), None, {}))


def test_the_default_directory_is_shown_where_nothing_names_another_cluster() -> None:
    make(DEFAULT_DIR)
    write_profiles(Profiles("prod", {"prod": Profile("prod")}))
    found = chosen_layout(DEFAULT_DIR, NOTHING)
    assert found is not None
    assert found.directory == DEFAULT_DIR.resolve()


def test_a_directory_that_was_chosen_goes_before_the_environment(tmp_path: Path) -> None:
    make(tmp_path / "chosen")
    assert chosen_layout(tmp_path / "chosen", OF_THE_ENVIRONMENT) is not None
    assert chosen_layout(tmp_path / "chosen", OF_THE_COMMAND_LINE) is None


def test_the_environment_goes_before_the_default_directory() -> None:
    make(DEFAULT_DIR)
    assert chosen_layout(DEFAULT_DIR, OF_THE_ENVIRONMENT) is None


def test_a_file_with_client_properties_names_another_cluster(tmp_path: Path) -> None:
    make(DEFAULT_DIR)
    config = tmp_path / "client.properties"
    options = replace(NOTHING, command_config=config)
    assert chosen_layout(DEFAULT_DIR, options) is None


def test_without_a_directory_the_profile_in_use_is_shown(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no cluster in"):
        chosen_layout(DEFAULT_DIR, NOTHING)
    write_profiles(Profiles("prod", {"prod": Profile("prod")}))
    assert chosen_layout(DEFAULT_DIR, NOTHING) is None
    with pytest.raises(CommandError, match="There is no cluster in"):
        chosen_layout(tmp_path / "chosen", NOTHING)
