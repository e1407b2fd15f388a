"""Which cluster is meant, and with which properties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ottla.channels.channel_security import PLAINTEXT
from ottla.cli.connection.client_properties import client_properties, cluster_settings_of
from ottla.cli.connection.cluster_access import DEFAULT_BOOTSTRAP, ClusterAccess, resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.profiles import Profile, Profiles, write_profiles
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.settings.common import COMMON
from ottla.client.settings.producer import PRODUCER

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


def test_properties_that_no_client_has_are_refused_on_the_command_line() -> None:
    with pytest.raises(CommandError, match=r"no client property linger\.msec") as raised:
        cluster_settings_of(access_with("linger.msec=5"))
    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.hints == ("Did you mean linger.ms?",)


def test_properties_of_another_client_do_not_matter() -> None:
    access = access_with("security.protocol=plaintext", "group.protocol=consumer", profile="prod")
    assert cluster_settings_of(access).security is PLAINTEXT
    assert client_properties(access, COMMON) == {
        "client.id": "billing",
        "security.protocol": "plaintext",
    }
    assert client_properties(access, PRODUCER)["linger.ms"] == "5"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("queue.buffering.max.ms", "Kafka's name for it is linger.ms."),
        ("debug", "Leave debug out."),
        ("topic.blacklist", "Leave topic.blacklist out."),
    ],
)
def test_properties_that_only_librdkafka_has_are_refused(
    name: str, hint: str, profiles: Profiles
) -> None:
    profiles.by_name["old"] = Profile("old", None, {name: "1"})
    write_profiles(profiles)
    for access in (access_with(f"{name}=1"), access_with(profile="old")):
        with pytest.raises(CommandError, match=f"{name} is librdkafka's") as raised:
            client_properties(access, PRODUCER)
        assert raised.value.hints == (hint,)


def test_properties_that_kafkas_own_client_needs_are_ignored() -> None:
    access = access_with("metric.reporters=x", "ssl.provider=BC")
    assert cluster_settings_of(access).client_id == "ottla"


def test_a_value_that_cannot_be_used_is_named() -> None:
    with pytest.raises(CommandError, match=r"request\.timeout\.ms is 'soon'"):
        cluster_settings_of(access_with("request.timeout.ms=soon"))


LOGIN = (
    'org.apache.kafka.common.security.scram.ScramLoginModule required username="bob" '
    'password="secret of bob";'
)
SECURE = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.jaas.config": LOGIN,
}


def test_pipelines_get_the_security_of_a_profile_with_absolute_paths(profiles: Profiles) -> None:
    secure = SECURE | {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": "certs/ca.pem",
        "client.id": "billing",
    }
    profiles.by_name["secure"] = Profile("secure", None, secure)
    write_profiles(profiles)
    found = access_with(profile="secure").security_properties
    assert found.pop("ssl.ca.location") == str(Path.cwd() / "certs/ca.pem")
    assert found == SECURE | {"security.protocol": "SASL_SSL"}


def with_config(path: Path, text: str, **options: Any) -> ClusterAccess:
    file = path / "client.properties"
    file.write_text(text)
    return resolve(ClusterOptions(command_config=file, **options))


def test_a_file_names_the_cluster_and_its_properties(tmp_path: Path) -> None:
    access = with_config(tmp_path, "bootstrap.servers=near:9092\nclient.id=me\n")
    # The profile in use is not meant.
    assert access == ClusterAccess("near:9092", {"client.id": "me"})


def test_a_file_goes_before_the_environment_and_after_the_command_line(tmp_path: Path) -> None:
    text = "bootstrap.servers=near:9092\n"
    access = with_config(tmp_path, text, bootstrap="env:9092", has_own_bootstrap=False)
    assert access.bootstrap == "near:9092"
    access = with_config(tmp_path, text, bootstrap="here:9092")
    assert access.bootstrap == "here:9092"
    access = with_config(tmp_path, "client.id=a\n", bootstrap="h:1", properties=("client.id=b",))
    assert access.properties == {"client.id": "b"}


def test_a_file_replaces_the_security_of_the_profile_and_nothing_else(
    tmp_path: Path, profiles: Profiles
) -> None:
    profiles.by_name["prod"] = Profile("prod", "kafka-prod:9092", {"linger.ms": "5", **SECURE})
    write_profiles(profiles)
    access = with_config(tmp_path, "client.id=me\n")
    assert access == ClusterAccess("kafka-prod:9092", {"linger.ms": "5", "client.id": "me"})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="none does not exist"):
        resolve(ClusterOptions(command_config=tmp_path / "none"))


def test_passwords_are_not_in_the_text_of_a_value(profiles: Profiles) -> None:
    profiles.by_name["secure"] = Profile("secure", None, SECURE)
    write_profiles(profiles)
    access = access_with(profile="secure")
    assert "secret" not in repr(access)
    assert "secret" not in repr(access.security)
    assert access.security.properties["sasl.password"] == "secret of bob"
    assert "secret" not in str(profiles.by_name["secure"].shown_properties)


def secured(*properties: str) -> ClusterAccess:
    return access_with("security.protocol=SASL_SSL", "sasl.mechanism=GSSAPI", *properties)


@pytest.mark.parametrize("name", ["ssl.ca.location", "sasl.kerberos.keytab"])
def test_a_file_of_a_property_has_to_exist(name: str, tmp_path: Path) -> None:
    there, missing = tmp_path / "there", tmp_path / "missing"
    there.touch()
    for value in (str(there), "probe", ""):
        secured(f"{name}={value}").require_files()
    with pytest.raises(CommandError) as raised:
        secured(f"{name}={missing}").require_files()
    assert raised.value.message == f"{missing} does not exist; correct the path of {name} in -X."
    assert raised.value.exit_code == ExitCode.USAGE
