"""The file of the profiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ottla.cli.connection.profiles import (
    Profile,
    Profiles,
    profiles_file,
    read_profiles,
    write_profiles,
)
from ottla.cli.exit_codes import CommandError

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
PROFILES = st.dictionaries(
    TEXTS, st.tuples(st.none() | TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=3)), max_size=3
)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "ottla"


def test_without_a_file_there_are_no_profiles() -> None:
    assert read_profiles() == Profiles()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.none() | TEXTS, PROFILES)
def test_profiles_come_back_as_they_were_written(
    current: str | None, wanted: dict[str, tuple[str | None, dict[str, str]]]
) -> None:
    profiles = Profiles(current, {name: Profile(name, *each) for name, each in wanted.items()})
    write_profiles(profiles)
    assert read_profiles() == profiles


def test_only_the_owner_may_read_the_file(directory: Path) -> None:
    write_profiles(Profiles())
    assert directory.stat().st_mode & 0o777 == 0o700
    assert profiles_file().stat().st_mode & 0o777 == 0o600
    assert [file.name for file in directory.iterdir()] == ["config.toml"]


def test_a_relative_directory_of_the_environment_is_ignored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert profiles_file() == tmp_path / ".config" / "ottla" / "config.toml"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("current = prod", "Invalid value"),
        ("current = 3", "current has to be a string"),
        ("profiles = 3", "profiles has to be a table"),
        ("[profiles.prod]\nbootstrp = 'x'", "unknown field bootstrp"),
        ("[profiles.prod.properties]\n'linger.ms' = 5", "linger.ms of profile prod has to be"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(text: str, reason: str) -> None:
    write_profiles(Profiles())
    profiles_file().write_text(text)
    with pytest.raises(CommandError) as raised:
        read_profiles()
    assert reason in raised.value.message
    assert str(profiles_file()) in raised.value.message


def test_secrets_are_hidden() -> None:
    given = {"sasl.username": "me", "sasl.password": "x", "ssl.key.pem": "y", "a.secret": "z"}
    shown = Profile("prod", None, given).shown_properties
    assert set(shown.values()) == {"me", "hidden"}
