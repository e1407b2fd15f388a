from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.document import Block, Command, DocumentError, Mark, read_document


def read(tmp_path: Path, text: str) -> list[Block | Mark]:
    file = tmp_path / "document.md"
    file.write_text(text)
    return read_document(file)


def block(tmp_path: Path, text: str) -> Block:
    (found,) = read(tmp_path, text)
    assert isinstance(found, Block)
    return found


def test_a_block_knows_its_heading_and_its_marks(tmp_path: Path) -> None:
    found = block(tmp_path, "## Start\n\n<!-- not run: needs two hosts -->\n```sh\ntrue\n```\n")
    assert found.heading == "Start"
    assert found.marks == {"not run": "needs two hosts"}
    assert found.reason_not_run == "needs two hosts"


def test_lines_of_a_script_are_commands_and_may_go_on_in_the_next(tmp_path: Path) -> None:
    script = "```sh\none \\\n  two\ncat <<EOF\nthree\nEOF\n\nfor x in 1; do\n  four\ndone\n```\n"
    assert [command.text for command in block(tmp_path, script).commands] == [
        "one \\\n  two",
        "cat <<EOF\nthree\nEOF",
        "\nfor x in 1; do\n  four\ndone",
    ]


def test_what_follows_a_prompt_is_output(tmp_path: Path) -> None:
    text = "```console\n$ one \\\n  two\nout\n$ three\n```\n"
    assert block(tmp_path, text).commands == [
        Command("one \\\n  two", 2, ("out",)),
        Command("three", 5, ()),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<!-- not run -->\n```sh\ntrue\n```\n",
        "<!-- not run: -->\n```sh\ntrue\n```\n",
        "<!-- skipped: because -->\n```sh\ntrue\n```\n",
        "<!-- not run: because -->\nNo block.\n",
        "<!-- not run: because -->\n",
        "```sh\ntrue\n",
    ],
    ids=["no reason", "empty reason", "unknown mark", "no block", "end", "open block"],
)
def test_a_mark_needs_its_reason_and_its_block(tmp_path: Path, text: str) -> None:
    with pytest.raises(DocumentError):
        read(tmp_path, text)


def test_output_needs_a_prompt_before_it(tmp_path: Path) -> None:
    with pytest.raises(DocumentError):
        assert block(tmp_path, "```console\nout\n```\n").commands
