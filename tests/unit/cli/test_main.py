"""The command line answers at once and politely."""

import subprocess
import sys

from typer.testing import CliRunner

from ottla import __version__
from ottla.cli.main import make_app


def test_help_names_the_commands() -> None:
    result = CliRunner().invoke(make_app(), ["--help"])
    assert result.exit_code == 0
    for command in ("start", "topics", "configs", "produce", "consume", "offsets", "bench", "dump"):
        assert command in result.stdout
    assert "--version" in result.stdout


def test_no_arguments_show_the_help() -> None:
    assert "Usage: ottla" in CliRunner().invoke(make_app(), []).output


def test_version_is_the_packages() -> None:
    result = CliRunner().invoke(make_app(), ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"ottla {__version__}\n"


def test_python_runs_the_package_as_the_program() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "ottla", "--version"], capture_output=True, check=True, text=True
    )
    assert ran.stdout == f"ottla {__version__}\n"


def test_help_loads_nothing_of_what_commands_need() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, ottla.cli.main; print(*sys.modules, sep='\\n')"],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    assert "ottla.cli.main" in loaded
    heavy = ("ottla.dump", "ottla.wire", "ottla.runtime", "confluent_kafka", "asyncio")
    assert not {name for name in loaded if name.startswith(heavy)}
