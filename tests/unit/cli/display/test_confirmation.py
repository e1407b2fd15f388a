"""Questions before what cannot be undone."""

import sys
from collections.abc import Callable
from typing import NoReturn

import pytest
import typer

from ottla.cli.connection.client_command import client_command
from ottla.cli.display.confirmation import confirm
from ottla.cli.exit_codes import CommandError


def exit_code_of_question() -> int | None:
    with pytest.raises(typer.Exit) as raised, client_command():
        confirm("Delete it?")
    return raised.value.exit_code


def answer_with(monkeypatch: pytest.MonkeyPatch, answer: Callable[[], str]) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", answer)


def interrupt() -> NoReturn:
    raise KeyboardInterrupt


def end_of_input() -> NoReturn:
    raise EOFError


def test_ctrl_c_at_the_question_interrupts_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, interrupt)
    assert exit_code_of_question() == 130


@pytest.mark.parametrize("answer", [lambda: "n", lambda: "", end_of_input])
def test_every_answer_but_yes_ends_the_command(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[], str]
) -> None:
    answer_with(monkeypatch, answer)
    assert exit_code_of_question() == 0


@pytest.mark.parametrize("answer", ["y", "Yes "])
def test_yes_goes_on(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    answer_with(monkeypatch, lambda: answer)
    confirm("Delete it?")


def test_without_a_terminal_the_option_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    with pytest.raises(CommandError) as raised:
        confirm("Delete it?")
    assert "--yes" in raised.value.hints[0]
