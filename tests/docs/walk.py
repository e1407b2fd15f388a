"""Walks through a document: runs its blocks in order, as written, as a user at a terminal does.

    unshare --net python -m tests.docs.walk docs/cli.md

Prints what it runs, and what went wrong; the exit code is 1 then. A network of its own has every
port free that the document names, and no other nodes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ottla.pipeline.running.session import JAVA_OPTIONS
from tests.docs.document import Block, Command, Mark, read_document
from tests.docs.expected_output import difference
from tests.docs.givens import GIVENS, STAYING
from tests.docs.interpreter import Interpreter
from tests.docs.leftovers import adopt_orphans, end_children
from tests.docs.loopback import bring_up
from tests.docs.terminal import StuckCommandError, Terminal
from tests.support.spark.spark import CONFIGS

ROOT = Path(__file__).resolve().parents[2]
SHELL_LANGUAGES = ("sh", "console")
# Lines of a log and the like, which are only shown.
SHOWN_LANGUAGE = "text"
# Without the Makefile: a document that ran it would make the environment of the tests anew.
EVENTUALLY_SECONDS_MAX = 60.0
_OF_A_CLONE = ("examples", "docs", "README.md")


class Walk:
    """One document, chapter by chapter. `failures` say what went wrong, and in which line."""

    def __init__(self, document: Path, scratch: Path, say: Callable[[str], None]) -> None:
        self.failures: list[str] = []
        self.not_run: list[str] = []
        self._document = document
        self._scratch = scratch
        self._say = say
        self._chapters = 0
        self._foreground: list[Terminal] = []
        # These go on until the chapter's end.
        self._given: list[Terminal] = []
        self._begin_chapter()

    def run(self) -> None:
        """To its end, or to the first command that does not end: nothing can follow that."""
        try:
            for part in read_document(self._document):
                if isinstance(part, Mark):
                    self._obey(part)
                else:
                    self._run_block(part)
        except StuckCommandError as error:
            self._fail(0, str(error))
        finally:
            self._end_chapter()

    def _obey(self, mark: Mark) -> None:
        if mark.name == "Ctrl-C":
            self._interrupt()
            return
        is_chapter = mark.name == "given"
        if is_chapter:
            self._end_chapter()
            self._begin_chapter()
        for name in mark.value.split(","):
            script = Block("sh", tuple(GIVENS[name.strip()].splitlines()), mark.line, "")
            for command in script.commands:
                if command.text.startswith(STAYING):
                    text = command.text.removeprefix(STAYING)
                    self._stay(Command(text, mark.line), is_given=is_chapter)
                else:
                    self._type(Command(command.text, mark.line), 0)

    def _run_block(self, block: Block) -> None:
        if reason := block.reason_not_run:
            self.not_run.append(f"{self._place(block.line)}: {reason}")
        elif name := block.marks.get("file"):
            (self._directory / name).write_text(block.text)
        elif block.language == "python":
            self._say(f"{self._place(block.line)} python")
            if error := self._python.run("\n" * block.line + block.text, name=self._document.name):
                self._fail(block.line, error)
        elif block.language in SHELL_LANGUAGES:
            self._run_commands(block)
        elif block.language != SHOWN_LANGUAGE:
            self._fail(block.line, f"what to do with {block.language!r}? Mark it: file, not run")

    def _run_commands(self, block: Block) -> None:
        commands = block.commands
        codes = block.exit_codes + [0] * len(commands)
        for command, code in zip(commands, codes, strict=False):
            if "foreground" in block.marks and command is commands[-1]:
                self._stay(command)
            else:
                self._type(command, code, is_repeated="eventually" in block.marks)

    def _type(self, command: Command, expected: int, *, is_repeated: bool = False) -> None:
        self._say(f"{self._place(command.line)} $ {command.text}")
        deadline = time.perf_counter() + (EVENTUALLY_SECONDS_MAX if is_repeated else 0.0)
        while reason := self._try(command, expected):
            if time.perf_counter() > deadline:
                self._fail(command.line, f"{command.text}: {reason}")
                return

    def _try(self, command: Command, expected: int) -> str:
        """Empty, or what is wrong with the exit code or the output."""
        code, output = self._terminal.run(command.text)
        if code != expected:
            return f"exit code {code}, not {expected}\n{output}"
        if command.output is None:
            return ""
        reason = difference(command.output, output.splitlines())
        return f"the output differs\n{reason}\n---\n{output}" if reason else ""

    def _stay(self, command: Command, *, is_given: bool = False) -> None:
        """In a terminal of its own, until all that the document shows of it is there."""
        self._say(f"{self._place(command.line)} & {command.text}")
        expected = [*(command.output or ()), "…"]
        terminal = self._open_terminal()
        (self._given if is_given else self._foreground).append(terminal)

        def is_ready(output: str) -> bool:
            return bool(output) and not difference(expected, output.splitlines())

        terminal.begin(command.text, is_ready)

    def _interrupt(self) -> None:
        foreground, self._foreground = self._foreground, []
        for terminal in foreground:
            terminal.interrupt()

    def _begin_chapter(self) -> None:
        self._chapters += 1
        home = self._scratch / f"{self._chapters}"
        self._directory = home / "here"
        self._environment = _environment(home)
        _make_clone(self._directory)
        self._open = ExitStack()
        self._terminals = 0
        self._terminal = self._open_terminal()
        self._python = Interpreter(self._directory, self._environment)
        self._open.callback(self._python.close)

    def _end_chapter(self) -> None:
        with self._open:
            try:
                self._interrupt()
                self._foreground, self._given = self._given, []
                self._interrupt()
            except StuckCommandError as error:
                self._fail(0, str(error))
        if left := end_children():
            self._fail(0, f"the document leaves running: {', '.join(left)}")

    def _open_terminal(self) -> Terminal:
        self._terminals += 1
        scratch = self._directory.parent / f"terminal-{self._terminals}"
        terminal = Terminal(scratch, self._directory, self._environment)
        self._open.callback(terminal.close)
        return terminal

    def _fail(self, line: int, what: str) -> None:
        self.failures.append(f"{self._place(line)}: {what}")
        self._say(f"{self._place(line)} FAILED {what}")

    def _place(self, line: int) -> str:
        return f"{self._document.name}:{line}"


def _environment(home: Path) -> dict[str, str]:
    """A user's who has just come: a home without files, and the programs of this environment."""
    bin_directory = Path(sys.executable).parent
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OTTLA_", "PYTEST_", "SPARK_", "PYSPARK_", "XDG_"))
    }
    return {
        **kept,
        "HOME": str(home),
        "PATH": f"{bin_directory}:{kept['PATH']}",
        # What the first pipeline on a host makes in half a minute stays for the next run.
        "XDG_CACHE_HOME": str(ROOT / ".cache" / "documents"),
        "COLUMNS": "200",
        # Where the programs are that chapters take for granted.
        "OTTLA_DOCS": str(Path(__file__).parent),
        # The host's own address is not to be reached in a network without interfaces.
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONF_DIR": str(_spark_defaults(home)),
    }


def _spark_defaults(home: Path) -> Path:
    """A Java that lives for seconds starts sooner if it leaves out what pays later."""
    directory = home / "spark"
    directory.mkdir(parents=True)
    options = f"spark.driver.extraJavaOptions {CONFIGS[JAVA_OPTIONS]}"
    lines = (options, "spark.ui.enabled false", "spark.ui.showConsoleProgress false")
    (directory / "spark-defaults.conf").write_text("".join(f"{line}\n" for line in lines))
    return directory


def _make_clone(directory: Path) -> None:
    """What a document takes from the repository is where it is in a clone of it."""
    directory.mkdir(parents=True)
    for name in _OF_A_CLONE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, directory / name)
        else:
            shutil.copy(ROOT / name, directory / name)
    (directory / ".venv").symlink_to(sys.prefix)


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ottla-docs-", ignore_cleanup_errors=True) as path:
        yield Path(path)


def main(document: str) -> int:
    bring_up()
    adopt_orphans()
    with _scratch() as scratch:
        started = time.perf_counter()

        def say(line: str) -> None:
            print(f"{time.perf_counter() - started:6.1f} s  {line}", flush=True)

        walk = Walk(ROOT / document, scratch, say)
        walk.run()
    for reason in walk.not_run:
        print(f"not run: {reason}")
    for reason in walk.failures:
        print(f"FAILED {reason}")
    return 1 if walk.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
