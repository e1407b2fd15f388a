"""Completion in shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ottla.cli.completion.command import typed_command
from ottla.cli.connection.profiles import Profile, Profiles, write_profiles
from ottla.cli.main import make_app


def script(shell: str) -> str:
    result = CliRunner().invoke(make_app("completion"), ["completion", shell])
    assert result.exit_code == 0
    return result.stdout


def completed(*words: str) -> list[str]:
    """What bash is offered for the last of the words."""
    environment = {
        **os.environ,
        "_OTTLA_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("ottla", *words)),
        "COMP_CWORD": str(len(words)),
    }
    ran = subprocess.run(
        [sys.executable, "-m", "ottla"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_have_the_program_answer(shell: str) -> None:
    assert f"_OTTLA_COMPLETE=complete_{shell}" in script(shell)


def test_other_shells_are_refused() -> None:
    assert CliRunner().invoke(make_app("completion"), ["completion", "tcsh"]).exit_code == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_takes_its_script() -> None:
    check = f"{script('bash')}\ncomplete -p ottla"
    ran = subprocess.run(["bash", "-c", check], capture_output=True, text=True, check=True)
    assert "ottla" in ran.stdout


def test_commands_and_options_are_completed() -> None:
    assert completed("topi") == ["topics"]
    assert "delete-records" in completed("topics", "del")
    assert completed("consume", "orders", "--gr") == ["--group"]


def test_profiles_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    write_profiles(Profiles(None, {name: Profile(name) for name in ("prod", "staging")}))
    assert completed("topics", "list", "--profile", "st") == ["staging"]
    assert completed("profile", "use", "pr") == ["prod"]


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"COMP_WORDS": "ottla topics li"}, "topics"),
        ({"_TYPER_COMPLETE_ARGS": "ottla log-dirs "}, "log-dirs"),
        ({"COMP_WORDS": "ottla"}, ""),
        ({}, ""),
    ],
)
def test_only_the_command_that_is_typed_is_loaded(
    environment: dict[str, str], command: str
) -> None:
    assert typed_command(environment) == command
