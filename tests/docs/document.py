"""A Markdown document as what happens in it: headings, blocks of code and marks for the tests.

Marks are HTML comments, which readers do not see:

| mark | says |
|---|---|
| `<!-- not run: REASON -->` | the next block needs other infrastructure |
| `<!-- long: REASON -->` | the next block is left out unless tests take their time |
| `<!-- given: NAME, NAME -->` | a new chapter, in a directory of its own; see `givens.py` |
| `<!-- file: NAME -->` | the next block is the content of this file |
| `<!-- foreground -->` | the next block's last command has its own terminal until `Ctrl-C` |
| `<!-- also given: NAME -->` | the same, within the chapter, and until `Ctrl-C` |
| `<!-- eventually -->` | the next block's commands are repeated until they print what is shown |
| `<!-- Ctrl-C -->` | ends what runs in other terminals |
| `<!-- exit codes: 3, 1 -->` | of the commands of the next block, in order |
| `<!-- generated: COMMAND -->` | a program writes what follows, until `<!-- end of generated -->` |
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.soak import IS_SOAK

_FENCE = re.compile(r"^ {0,3}```(\w*)\s*$")
_COMMENT = re.compile(r"^<!--\s*(.*?)\s*-->\s*$")
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")
_PROMPT = "$ "
OF_A_BLOCK = ("not run", "long", "file", "foreground", "eventually", "exit codes")
OF_A_PLACE = ("given", "also given", "Ctrl-C")
OF_A_PROGRAM = ("generated", "end of generated")


class DocumentError(Exception):
    """A document that the tests do not understand."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the document where something happens beside its blocks."""

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Command:
    """What is typed at a prompt, and what the document shows after it."""

    text: str
    line: int
    output: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of code."""

    language: str
    lines: tuple[str, ...]
    line: int
    heading: str
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def reason_not_run(self) -> str | None:
        return self.marks.get("not run") or (None if IS_SOAK else self.marks.get("long"))

    @property
    def exit_codes(self) -> list[int]:
        """Of the commands that are named; the others end with 0."""
        return [int(code) for code in self.marks.get("exit codes", "").split(",") if code]

    @property
    def commands(self) -> list[Command]:
        return list(self._prompts() if self.language == "console" else self._script())

    def _script(self) -> Iterator[Command]:
        text, first = "", self.line + 1
        for number, line in enumerate(self.lines, self.line + 1):
            text = f"{text}{line}\n"
            if not text.strip() or not _is_complete(text):
                continue
            yield Command(text.rstrip("\n"), first)
            text, first = "", number + 1

    def _prompts(self) -> Iterator[Command]:
        typed, output, first = "", list[str](), 0
        for number, line in enumerate(self.lines, self.line + 1):
            if line.startswith(_PROMPT):
                if typed:
                    yield Command(typed, first, tuple(output))
                typed, output, first = line.removeprefix(_PROMPT), [], number
            elif not typed:
                raise DocumentError(f"line {number}: output before the first prompt")
            elif not output and not _is_complete(f"{typed}\n"):
                typed = f"{typed}\n{line}"
            else:
                output.append(line)
        if typed:
            yield Command(typed, first, tuple(output))


def read_document(path: Path) -> list[Block | Mark]:
    """Raises DocumentError where a mark is unknown, lacks its reason, or belongs to nothing."""
    found: list[Block | Mark] = []
    pending: dict[str, str] = {}
    heading = ""
    lines = iter(enumerate(path.read_text().splitlines(), 1))
    for number, line in lines:
        if fence := _FENCE.match(line):
            content = _until_end(lines, number)
            found.append(Block(fence[1], content, number, heading, pending))
            pending = {}
        elif comment := _COMMENT.match(line):
            name, _, value = (part.strip() for part in comment[1].partition(":"))
            if name in OF_A_PLACE:
                found.append(Mark(name, value, number))
            elif name in OF_A_PROGRAM:
                continue
            elif name not in OF_A_BLOCK:
                raise DocumentError(f"line {number}: there is no mark {name!r}")
            elif name in ("not run", "long", "file") and not value:
                raise DocumentError(f"line {number}: {name!r} says nothing after its colon")
            else:
                pending[name] = value
        elif pending and line.strip():
            raise DocumentError(f"line {number}: a block has to follow the mark {pending}")
        elif title := _HEADING.match(line):
            heading = title[1]
    if pending:
        raise DocumentError(f"the end: a block has to follow the mark {pending}")
    return found


def _until_end(lines: Iterator[tuple[int, str]], first: int) -> tuple[str, ...]:
    content: list[str] = []
    for _, line in lines:
        if line.strip() == "```":
            return tuple(content)
        content.append(line)
    raise DocumentError(f"line {first}: the block does not end")


def _is_complete(text: str) -> bool:
    """Whether a shell would not ask for another line. Raises DocumentError if it is no command."""
    if text.endswith("\\\n"):
        return False
    parsed = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    if parsed.returncode == 0:
        return "here-document" not in parsed.stderr
    if "unexpected end of file" in parsed.stderr or "unexpected EOF" in parsed.stderr:
        return False
    raise DocumentError(f"{text!r} is no command: {parsed.stderr}")
