"""What commands say about a file that is missing: what it is, and what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.main import make_app
from ottla.cli.pipelines import choice
from ottla.cli.produce.input_source import open_input
from ottla.cli.reassign.run import _read_plan

CLUSTER = ("--bootstrap", "127.0.0.1:1")


def run(*arguments: str) -> Result:
    environment = {"COLUMNS": "500", "TERM": "dumb"}
    return CliRunner(env=environment).invoke(make_app(arguments[0]), list(arguments))


def assert_refused(result: Result, file: Path, remedy: str) -> None:
    assert result.exit_code == ExitCode.USAGE, result.output
    assert f"{file} does not exist; " in result.stderr
    assert remedy in result.stderr
    assert "Errno" not in result.output


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("start", "--config"), "give --config the path of the node's server.properties"),
        (
            ("format", "--cluster-id", "MkU3OEVBNTcwNTJENDM2Qg", "--config"),
            "give --config the path of the node's server.properties",
        ),
        (
            ("quorum", "add", *CLUSTER, "--config"),
            "give --config the path of the controller's server.properties",
        ),
        (
            ("topics", "list", *CLUSTER, "-X", "security.protocol=SSL", "-X", "ssl.ca.location="),
            "correct the path of ssl.ca",
        ),
    ],
)
def test_a_missing_file_is_named_with_what_to_do(
    arguments: tuple[str, ...], remedy: str, tmp_path: Path
) -> None:
    file = tmp_path / "nofile"
    *first, last = arguments
    given = [f"{last}{file}"] if last.endswith("=") else [last, str(file)]
    assert_refused(run(*first, *given), file, remedy)


def test_a_missing_pipeline_is_a_mistake_of_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "use_java", lambda: Path("java"))
    file = tmp_path / "nofile.py"
    result = run("pipelines", "check", str(file))
    assert_refused(result, file, "give the path of the pipeline's Python file")


def test_files_that_are_read_after_connecting_are_named_as_well(tmp_path: Path) -> None:
    file = tmp_path / "nofile"
    with pytest.raises(CommandError) as raised, open_input(str(file)):
        pass
    assert raised.value.message.startswith(f"{file} does not exist; give --file the path")
    assert raised.value.exit_code == ExitCode.USAGE
    with pytest.raises(CommandError) as raised:
        _read_plan(file)
    assert raised.value.message.startswith(f"{file} does not exist; write a plan with")
    assert raised.value.exit_code == ExitCode.USAGE


def test_a_directory_and_an_unreadable_file_have_different_errors(tmp_path: Path) -> None:
    result = run("start", "--config", str(tmp_path))
    assert f"{tmp_path} is a directory, not a file; give" in result.stderr
    if os.geteuid():
        file = tmp_path / "server.properties"
        file.touch(mode=0)
        result = run("start", "--config", str(file))
        assert f"{file} cannot be read with the permissions of this user; give" in result.stderr


def test_a_missing_editor_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("VISUAL", "no-such-editor")
    result = run("profile", "edit")
    assert result.exit_code == ExitCode.USAGE
    assert "The editor no-such-editor is not installed; set EDITOR" in result.stderr
