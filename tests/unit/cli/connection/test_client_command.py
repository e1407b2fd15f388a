"""How commands end."""

import pytest
import typer

from ottla.cli.connection.client_command import client_command
from ottla.cli.exit_codes import CommandError, ExitCode


def exit_code_after(error: BaseException) -> int:
    with pytest.raises(typer.Exit) as raised, client_command():
        raise error
    return raised.value.exit_code


def test_an_error_is_printed_with_its_hints(capsys: pytest.CaptureFixture[str]) -> None:
    error = CommandError("No [bold]way[/].", "Try another.", exit_code=ExitCode.UNREACHABLE)
    assert exit_code_after(error) == 3
    assert capsys.readouterr().err == "No [bold]way[/].\nTry another.\n"


def test_an_interrupt_ends_as_shells_expect() -> None:
    assert exit_code_after(KeyboardInterrupt()) == 130


def test_what_is_no_error_of_a_cluster_is_not_hidden() -> None:
    with pytest.raises(ModuleNotFoundError), client_command():
        raise ModuleNotFoundError("no", name="something_else")
