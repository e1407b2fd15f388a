"""`ottla consume --share`, against a node in a process of its own."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.integration.cli.test_client_commands import CommandLine
from tests.support.nodes.nodes import running_node


@pytest.fixture(scope="module")
def ottla(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    settings = {"share.coordinator.state.topic.num.partitions": "2"}
    with running_node(tmp_path_factory.mktemp("node"), settings=settings) as node:
        yield CommandLine(node.bootstrap)


def lag(ottla: CommandLine, group: str) -> int:
    return sum(each["lag"] for each in ottla.json("shares", "describe", group))


def test_what_is_printed_is_accepted_or_given_back(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "queue")
    ottla.run("produce", "queue", stdin="one\ntwo\nthree\nfour\n")
    ottla.run("shares", "reset", "s1", "--to", "earliest", "--topic", "queue", "--execute")
    share = ("consume", "queue", "--share", "s1")
    released = ottla.run(*share, "--acknowledge", "release", "--max", "2").stdout
    assert released == "one\ntwo\n"
    (first, second) = ottla.json(*share, "--max", "2")
    assert [first["delivery_count"], second["value"]] == [2, "two"]
    assert lag(ottla, "s1") == 2
    assert ottla.run(*share, "--acknowledge", "reject", "--max", "1").stdout == "three\n"
    # Without --max, until there are no more.
    assert ottla.run(*share, "--format", r"%o %v\n").stdout == "3 four\n"
    assert lag(ottla, "s1") == 0


def test_a_new_group_begins_at_the_end_and_an_interrupt_leaves_it(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "late")
    with ottla.open("consume", "late", "--share", "s2", "--follow") as member:
        assert member.stdout is not None
        while not ottla.json("shares", "list") or "s2" not in str(ottla.json("shares", "list")):
            pass
        while not any(each["start_offset"] == 0 for each in ottla.json("shares", "describe", "s2")):
            pass
        ottla.run("produce", "late", "-v", "soon")
        assert member.stdout.readline() == "soon\n"
        member.send_signal(signal.SIGINT)
        assert member.wait(10) == 0
    assert lag(ottla, "s2") == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--acknowledge", "reject"), "needs --share"),
        (("--share", "s", "--group", "g"), "exclude each other"),
        (("--share", "s", "--partition", "0"), "leave out --partition"),
        (("--share", "s", "--from", "end"), "ottla shares reset"),
        (("--share", "s", "--acknowledge", "perhaps"), "accept, release, reject"),
    ],
)
def test_options_that_exclude_each_other(
    ottla: CommandLine, options: tuple[str, ...], says: str
) -> None:
    assert says in " ".join(ottla.run("consume", "queue", *options, exit_code=2).output.split())
