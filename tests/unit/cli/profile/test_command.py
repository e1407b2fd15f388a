"""`ottla profile` as its users meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ottla.cli.connection.profiles import profiles_file, read_profiles
from ottla.cli.main import make_app


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def profile(*arguments: str, exit_code: int = 0) -> Result:
    result = CliRunner(env={"COLUMNS": "120"}).invoke(
        make_app("profile"), ["profile", *arguments], catch_exceptions=False
    )
    assert result.exit_code == exit_code, result.output
    return result


def test_profiles_live_from_create_to_delete() -> None:
    assert "Create one" in profile("list").stderr
    profile("create", "staging", "-b", "kafka:9092", "-X", "sasl.password=x", "-X", "client.id=me")
    profile("create", "prod")
    shown = json.loads(profile("show", "staging", "--json").stdout)
    assert shown == {
        "profile": "staging",
        "is_current": False,
        "bootstrap": "kafka:9092",
        "properties": {"sasl.password": "hidden", "client.id": "me"},
    }
    profile("use", "staging")
    assert "profile staging, in use" in profile("show").stdout
    profile("set", "staging", "-b", "kafka:9093", "--unset", "client.id", "-X", "linger.ms=5")
    listed = [json.loads(line) for line in profile("list", "--json").stdout.splitlines()]
    assert [(each["profile"], each["bootstrap"]) for each in listed] == [
        ("staging", "kafka:9093"),
        ("prod", None),
    ]
    assert listed[0]["properties"] == {"sasl.password": "hidden", "linger.ms": "5"}
    assert profile("list").stdout.splitlines()[1].split()[:3] == ["*", "staging", "kafka:9093"]
    assert "--yes" in profile("delete", "staging", exit_code=2).stderr
    profile("delete", "staging", "--yes")
    assert "No profile is in use" in profile("show", exit_code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("create", "staging"), "exists already"),
        (("create", "no name"), "is not a name"),
        (("create", "other", "-b", "http://kafka"), "not an address"),
        (("create", "other", "-X", "bootstrap.servers=x"), "--bootstrap"),
        (("create", "other", "-X", "client.id"), "NAME=VALUE"),
        (("set", "staging", "--unset", "client.id"), "no property client.id"),
        (("use", "prod"), "Existing profiles: staging."),
        (("delete", "prod"), "There is no profile prod."),
    ],
)
def test_mistakes_change_nothing(arguments: tuple[str, ...], reason: str) -> None:
    profile("create", "staging")
    before = profiles_file().read_text()
    assert reason in profile(*arguments, exit_code=2).stderr
    assert profiles_file().read_text() == before


def test_edit_opens_the_editor_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    profile("create", "staging")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "sed -i s/staging/testing/")
    profile("edit")
    assert "testing" in profile("list").stdout
    monkeypatch.setenv("EDITOR", "sed -i s/profiles/profile/")
    assert "unknown field profile" in profile("edit", exit_code=2).stderr
    monkeypatch.setenv("EDITOR", "false")
    assert "exit code 1" in profile("edit", exit_code=2).stderr


def test_a_file_becomes_a_profile_without_passwords_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    login = 'ScramLoginModule required username="me" password="my secret";'
    Path("client.properties").write_text(
        "bootstrap.servers=kafka:9092\nsecurity.protocol=SASL_SSL\n"
        "sasl.mechanism=SCRAM-SHA-512\nssl.truststore.location=ca.pem\n"
        f"sasl.jaas.config={login}\nssl.keystore.key=my secret\n"
    )
    profile("create", "prod", "--command-config", "client.properties", "-X", "client.id=me")
    stored = read_profiles().profile("prod")
    assert stored.bootstrap == "kafka:9092"
    assert stored.properties["sasl.jaas.config"] == login
    assert stored.properties["ssl.truststore.location"] == str(tmp_path / "ca.pem")
    assert stored.properties["client.id"] == "me"
    for shown in (profile("show"), profile("show", "--json"), profile("list")):
        assert "secret" not in shown.output
    refused = profile("create", "b", "-X", "sasl.jaas.conf=my secret", exit_code=2)
    assert "no client property sasl.jaas.conf" in refused.stderr
    assert "secret" not in refused.output
