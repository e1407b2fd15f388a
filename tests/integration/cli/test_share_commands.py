"""`ottla consume --share` and `ottla shares redrive`, against a node in a process of its own."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator

import pytest

from ottla.client import Admin
from ottla.client.administration import FeatureUpgrade
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


def dead_letters(ottla: CommandLine, topic: str, group: str, *, copies: bool) -> str:
    """Rejects four records of a topic; returns the topic of their dead letters."""
    letters = f"dlq.{topic}"
    allowed = "errors.deadletterqueue.group.enable=true"
    ottla.run("topics", "create", letters, "--partitions", "1", "--config", allowed)
    configs = [
        "share.auto.offset.reset=earliest",
        f"errors.deadletterqueue.topic.name={letters}",
        f"errors.deadletterqueue.copy.record.enable={str(copies).lower()}",
    ]
    ottla.run("configs", "set", "--group", group, *configs)
    ottla.run("topics", "create", topic, "--partitions", "2")
    lines = "a:one\nb:two\nc:three\nd:four\n"
    ottla.run("produce", topic, "--format", "key-value", "--header", "from=test", stdin=lines)
    ottla.run("consume", topic, "--share", group, "--acknowledge", "reject", "--max", "4")
    return letters


@pytest.fixture(scope="module")
def with_dead_letters(ottla: CommandLine) -> None:
    """share.version 2, which has dead letters."""

    async def upgrade() -> None:
        async with Admin(bootstrap_servers=ottla.environment["OTTLA_BOOTSTRAP"]) as admin:
            (await admin.update_features({"share.version": FeatureUpgrade(2)})).all()

    asyncio.run(upgrade())


@pytest.mark.usefixtures("with_dead_letters")
@pytest.mark.parametrize("copies", [True, False])
def test_dead_letters_go_back_once(ottla: CommandLine, copies: bool) -> None:
    topic, group = f"sick-{copies}", f"clinic-{copies}"
    letters = dead_letters(ottla, topic, group, copies=copies)
    redrive = ("shares", "redrive", letters)
    preview = ottla.run(*redrive)
    assert "Nothing was sent" in preview.stderr
    assert f"{group}  {topic}" in preview.stdout
    assert len(ottla.json(*redrive, "--execute", "--max", "1")) == 1
    # Filters leave letters out; what was sent is remembered all the same.
    assert ottla.json(*redrive, "--cause", "limit", "--execute") == []
    assert ottla.json(*redrive, "--group", "other", "--execute") == []
    partition = ottla.json(*redrive, "--topic", f"{topic}:1", "--execute")
    assert all(each["partition"] == 1 and each["sent"] for each in partition)
    rest = ottla.json(*redrive, "--execute")
    assert 1 + len(partition) + len(rest) == 4
    assert ottla.json(*redrive, "--execute") == []
    records = ottla.json("consume", topic)
    assert len(records) == 8
    again = [each for each in records if len(each["headers"]) == 2]
    assert sorted(each["value"] for each in again) == ["four", "one", "three", "two"]
    for each in again:
        # With all headers, in the partition of its key.
        before = next(old for old in records if old["key"] == each["key"])
        assert (each["partition"], each["headers"][0]) == (
            before["partition"],
            {"key": "from", "value": "test"},
        )
        assert each["headers"][1]["value"].startswith(f"{letters}-0@")


@pytest.mark.usefixtures("with_dead_letters")
def test_copies_are_sent_when_the_records_are_gone(ottla: CommandLine) -> None:
    letters = dead_letters(ottla, "gone", "g-gone", copies=True)
    references = dead_letters(ottla, "gone-too", "g-gone-too", copies=False)
    for topic in ("gone", "gone-too"):
        ottla.run("topics", "delete", topic, "--yes")
    ottla.run("topics", "create", "rescued")
    (first, *_) = ottla.json("shares", "redrive", letters, "--to", "rescued", "--execute")
    assert (first["form"], first["to"]) == ("copy", "rescued")
    assert len(ottla.json("consume", "rescued")) == 4
    lost = ottla.run("shares", "redrive", references, "--to", "rescued", "--execute")
    assert "4 letters without a copy" in " ".join(lost.stderr.split())
    assert len(ottla.json("consume", "rescued")) == 4
