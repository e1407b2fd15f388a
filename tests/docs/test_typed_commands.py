"""Every command and option that a document names is there, and every command is in a document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.document import Block, read_document
from tests.docs.test_documents import ALL, DOCUMENTS
from tests.docs.typed_commands import calls, leaves, options_of, program, spans

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = program()


def blocks(document: str) -> Iterator[Block]:
    for part in read_document(ROOT / document):
        if isinstance(part, Block) and part.language in ("sh", "console"):
            yield part


def lines(document: str) -> Iterator[str]:
    """What is typed: command lines, and code within prose."""
    for block in blocks(document) if document in DOCUMENTS else ():
        for command in block.commands:
            yield command.text.replace("\\\n", " ")
    yield from spans((ROOT / document).read_text())


@pytest.mark.parametrize("document", ALL)
def test_commands_and_options_that_a_document_names_are_there(document: str) -> None:
    for line in lines(document):
        for call in calls(line):
            try:
                _, command = call.command(PROGRAM)
            except KeyError as unknown:
                pytest.fail(f"{line!r}: there is no command {unknown}")
            missing = set(call.options) - options_of(command)
            assert not missing, f"{line!r}: {command.name} has no {missing}"


def test_options_of_a_section_are_those_of_its_command() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        command = PROGRAM.commands.get(section.partition("\n")[0], PROGRAM)
        for span in spans(section):
            for option in re.findall(r"(?<!\S)--?[a-z][a-z0-9-]*", span if span[0] == "-" else ""):
                assert option in options_of(command), f"{command.name} has no {option} ({span})"


def test_every_command_is_typed_in_a_block() -> None:
    typed = {
        call.command(PROGRAM)[0]
        for document in DOCUMENTS
        for block in blocks(document)
        for command in block.commands
        for call in calls(command.text)
    }
    assert set(leaves(PROGRAM)) - typed == set()


def test_targets_that_documents_name_are_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in ALL:
        text = (ROOT / document).read_text()
        named = re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)
        named += [span.split()[1] for span in spans(text) if re.match(r"make [a-z]", span)]
        assert set(named) <= targets, document
