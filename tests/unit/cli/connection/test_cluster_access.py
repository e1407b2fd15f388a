"""Which cluster is meant, and with which properties."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.cli.connection.cluster_access import DEFAULT_BOOTSTRAP, ClusterAccess, resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.profiles import Profile, Profiles, write_profiles
from ottla.cli.exit_codes import CommandError, ExitCode

PROD = Profile("prod", "kafka-prod:9092", {"client.id": "billing", "linger.ms": "5"})
STAGING = Profile("staging", "kafka-staging:9092")


@pytest.fixture(autouse=True)
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Profiles:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    profiles = Profiles("prod", {"prod": PROD, "staging": STAGING})
    write_profiles(profiles)
    return profiles


def from_environment(bootstrap: str | None = None, profile: str | None = None) -> ClusterOptions:
    return ClusterOptions(bootstrap, profile, has_own_bootstrap=False, has_own_profile=False)


def test_the_default_holds_where_nothing_else_does(profiles: Profiles) -> None:
    profiles.current = None
    write_profiles(profiles)
    assert resolve(ClusterOptions()) == ClusterAccess(DEFAULT_BOOTSTRAP)


def test_the_profile_in_use_goes_before_the_default() -> None:
    assert resolve(ClusterOptions()) == ClusterAccess("kafka-prod:9092", PROD.properties)


def test_a_named_profile_goes_before_the_one_in_use() -> None:
    assert resolve(from_environment(profile="staging")).bootstrap == "kafka-staging:9092"


def test_addresses_of_the_environment_go_before_those_of_its_profile() -> None:
    access = resolve(from_environment("near:9092", "prod"))
    assert access == ClusterAccess("near:9092", PROD.properties)


def test_a_profile_of_the_command_line_goes_before_addresses_of_the_environment() -> None:
    options = ClusterOptions("near:9092", "staging", has_own_bootstrap=False)
    assert resolve(options).bootstrap == "kafka-staging:9092"


def test_addresses_of_the_command_line_go_before_its_profile() -> None:
    access = resolve(ClusterOptions("near:9092", "prod"))
    assert access == ClusterAccess("near:9092", PROD.properties)


@pytest.mark.parametrize("options", [ClusterOptions("near:9092"), from_environment("near:9092")])
def test_the_profile_in_use_sends_no_properties_to_other_addresses(options: ClusterOptions) -> None:
    assert resolve(options) == ClusterAccess("near:9092")


def test_properties_of_the_command_line_go_before_those_of_the_profile() -> None:
    access = resolve(ClusterOptions(properties=("client.id=me", "a=b=c")))
    assert access.properties == {"client.id": "me", "linger.ms": "5", "a": "b=c"}
    assert access.explicit == {"client.id", "a"}


@pytest.mark.parametrize(
    ("name", "option"),
    [("bootstrap.servers", "--bootstrap"), ("group.id", "--group"), ("error_cb", "")],
)
def test_properties_that_commands_rely_on_are_refused(name: str, option: str) -> None:
    with pytest.raises(CommandError) as raised:
        resolve(ClusterOptions("near:9092", properties=(f"{name}=x",)))
    assert raised.value.exit_code is ExitCode.USAGE
    assert option in " ".join(raised.value.hints)


def test_an_unknown_profile_is_refused_with_those_that_exist() -> None:
    with pytest.raises(CommandError) as raised:
        resolve(ClusterOptions(profile="prd"))
    assert raised.value.hints == ("Existing profiles: prod, staging.",)


def access_with(*properties: str, profile: str | None = None) -> ClusterAccess:
    return resolve(ClusterOptions("near:9092", profile, properties))


@pytest.mark.parametrize(
    "name", ["security.protocol", "sasl.password", "ssl.ca.location", "linger.ms"]
)
def test_commands_that_speak_the_protocol_refuse_what_they_cannot_do(name: str) -> None:
    with pytest.raises(CommandError) as raised:
        access_with(f"{name}=SSL").require_plaintext()
    assert name in raised.value.message


def test_commands_that_speak_the_protocol_refuse_security_of_a_profile(profiles: Profiles) -> None:
    profiles.by_name["secure"] = Profile("secure", None, {"security.protocol": "SASL_SSL"})
    write_profiles(profiles)
    with pytest.raises(CommandError, match=r"security\.protocol"):
        access_with(profile="secure").require_plaintext()


def test_what_tunes_the_ordinary_client_of_a_profile_does_not_matter_to_them() -> None:
    access_with("security.protocol=plaintext", profile="prod").require_plaintext()


@pytest.mark.parametrize("name", ["ssl.ca.location", "sasl.kerberos.keytab"])
def test_a_file_of_a_property_has_to_exist(name: str, tmp_path: Path) -> None:
    there, missing = tmp_path / "there", tmp_path / "missing"
    there.touch()
    for value in (str(there), "probe", ""):
        access_with(f"{name}={value}").require_files()
    with pytest.raises(CommandError) as raised:
        access_with(f"{name}={missing}").require_files()
    assert raised.value.message == f"{missing} does not exist; correct the path of {name} in -X."
    assert raised.value.exit_code == ExitCode.USAGE
