"""The texts that `make words` finds in a file."""

from __future__ import annotations

import pytest

from scripts.words.__main__ import Page, texts_of
from scripts.words.text import Text, section

MODULE = "src/ottla/cli/topics/command.py"


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ('raise KafkaError(code, "no such topic")', "error", "no such topic"),
        ('assert a, "no such topic"', "error", "no such topic"),
        ('failure = ChannelError(f"{self.name} is closed")', "error", "{name} is closed"),
        ('raise Refused(\n    "the log "\n    "is full"\n)', "error", "the log is full"),
        ('_log.warning("%s is late: %s", a, b)', "log", "%s is late: %s"),
        ('typer.echo(f"{count(n):>9} made")', "output", "{count(n)} made"),
        ('getpass("The password: ")', "output", "The password:"),
        ('lines = {"time (UTC)": cell}', "output", "time (UTC)"),
        ('table.add_column("leader", style="dim")', "output", "leader"),
        ('a = typer.Option("--all", help="All topics.")', "help", "All topics."),
        ('a = {"some key": 1}', "text", "some key"),
        ('a[f"Broker {each.id}"] = 1', "text", "Broker {id}"),
    ],
)
def test_the_call_around_a_string_decides_its_kind(code: str, kind: str, words: str) -> None:
    assert texts_of(MODULE, code) == [Text(kind, words)]


@pytest.mark.parametrize(
    "code",
    [
        'why = "it is gone"\nraise StorageError(why)',
        'def _why():\n    return "it is gone"\nraise StorageError(f"{a}: {_why()}")',
        'def _fail(why) -> NoReturn:\n    ...\n_fail("it is gone")',
        'def _require(holds, why):\n    raise StorageError(why)\n_require(a, "it is gone")',
    ],
)
def test_a_string_is_followed_to_where_it_is_raised(code: str) -> None:
    assert Text("error", "it is gone") in texts_of(MODULE, code)


def test_only_docstrings_of_commands_are_help() -> None:
    command = '@app.command()\ndef list():\n    """List\n    topics.\n\n    All of them."""\n'
    code = f'"""The module."""\n{command}def run():\n    """Does it."""\n'
    assert texts_of(MODULE, code) == [
        Text("help", "List topics."),
        Text("help", "All of them."),
    ]


@pytest.mark.parametrize(
    "code",
    [
        'if line.startswith("Caused by: "): pass',
        'Text(name, style="bold red")',
        '_log.info("%s: %s", a, b)',
        'a == "under way"',
        'a["under way"]',
        'frame.where("value IS NULL")',
        'Handler: TypeAlias = "Callable[[str], None]"',
    ],
)
def test_strings_that_are_not_shown_are_left_out(code: str) -> None:
    assert texts_of(MODULE, code) == []


def test_docstrings_of_the_api_reference_are_texts() -> None:
    page = Page.read("# `ottla.testing`\n\n::: ottla.testing\n    members:\n      - Cluster\n")
    method = (
        '    def stop(self):\n        """Stops it."""\n    def _end(self):\n        """No."""\n'
    )
    code = f'class Cluster:\n    """A cluster."""\n{method}class Internal:\n    """No."""\n'
    expected = [Text("api", "A cluster."), Text("api", "Stops it.")]
    assert texts_of("src/ottla/testing/cluster.py", code, [page]) == expected
    assert texts_of("src/ottla/broker/cluster.py", code, [page]) == []


def test_forms_have_labels_and_descriptions() -> None:
    form = "name: Bug\nbody:\n  - type: textarea\n    id: a b\n    label: What happens?\n"
    assert texts_of(".github/ISSUE_TEMPLATE/bug.yml", form) == [Text("doc", "What happens?")]


def test_generators_have_only_errors() -> None:
    code = 'source.line("end = len(data)")\nraise ProtocolError("too few bytes")'
    assert texts_of("src/ottla/wire/schema/decoder.py", code) == [Text("error", "too few bytes")]


def test_documentation_of_configs_is_of_its_own_kind() -> None:
    code = '"""Texts."""\nTEXTS = {"retention.ms": ("How long " "records stay.")}'
    name = "src/ottla/configs/documentation/topic.py"
    assert texts_of(name, code) == [Text("config", "How long records stay.")]


def test_documents_are_split_into_sentences_without_code() -> None:
    markdown = """# A title

One sentence that
goes on. Another with [a link](page.md).

```sh
make test # checks everything
```

- an item
  of two lines

| name | does |
|---|---|
| `a` | something |
"""
    assert [text.words for text in texts_of("docs/page.md", markdown)] == [
        "A title",
        "One sentence that goes on.",
        "Another with a link.",
        "an item of two lines",
        "name | does",
        "`a` | something",
        "checks everything",
    ]


def test_targets_and_scripts_are_of_one_kind() -> None:
    assert texts_of("Makefile", 'docs: a ## build it\n\t@echo "Built: it"\n') == [
        Text("make", "build it"),
        Text("make", "Built: it"),
    ]
    script = '# Says it.\necho "Making $(pwd "$a") ..."\n'
    assert texts_of("scripts/setup", script) == [Text("make", 'Making $(pwd "$a") ...')]


def test_a_section_has_each_text_once() -> None:
    texts = [Text("log", "a b"), Text("error", "c d"), Text("log", "a b")]
    assert section("a.py", texts) == "== a.py\nlog    a b\nerror  c d\n\n"
    assert section("a.py", []) == ""
