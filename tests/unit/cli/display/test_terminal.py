"""Where commands print."""

import pytest
from rich.tree import Tree

from ottla.cli.display.terminal import new_table, open_terminal
from ottla.cli.exit_codes import CommandError

LONG = "long " * 100


@pytest.fixture(autouse=True)
def without_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def test_a_table_is_not_cut_where_output_is_piped(capsys: pytest.CaptureFixture[str]) -> None:
    table = new_table("first", "middle", "last")
    table.add_row("1", LONG, LONG)
    open_terminal().stdout.print(table)
    _, row = capsys.readouterr().out.splitlines()
    assert row.count(LONG.strip()) == 2


def test_a_tree_is_not_cut_where_output_is_piped(capsys: pytest.CaptureFixture[str]) -> None:
    tree = Tree("root")
    tree.add(LONG)
    open_terminal().stdout.print(tree)
    assert LONG.strip() in capsys.readouterr().out


def test_columns_in_the_environment_are_respected(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    table = new_table("last")
    table.add_row(LONG)
    open_terminal().stdout.print(table)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egroup"


def test_names_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A group's id may contain any character."""
    table = new_table("group", "members")
    table.add_row(HOSTILE, "1")
    terminal = open_terminal()
    terminal.stdout.print(table)
    terminal.complain(CommandError(f"The group {HOSTILE} does not exist.", HOSTILE))
    terminal.notice(HOSTILE)
    printed = capsys.readouterr()
    for text in (printed.out, printed.err):
        assert r"\x1b]0;owned" in text
        assert text.replace("\n", "").isprintable()
