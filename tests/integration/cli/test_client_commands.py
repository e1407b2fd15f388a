"""The commands that talk to a cluster, against a real node."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ottla.cli.main import make_app
from tests.support.nodes.nodes import OTTLA, running_node

# With acknowledgements from all, the client takes half a second to begin.
QUICK = ("--acks", "1")


class CommandLine:
    """`ottla` against one cluster, in this process unless it has to be another."""

    def __init__(self, bootstrap: str) -> None:
        self.environment = {"OTTLA_BOOTSTRAP": bootstrap, "COLUMNS": "100"}

    def run(self, *arguments: str, stdin: str | bytes = "", exit_code: int = 0) -> Result:
        runner = CliRunner(env=self.environment)
        result = runner.invoke(
            make_app(arguments[0]), arguments, input=stdin, catch_exceptions=False
        )
        assert result.exit_code == exit_code, result.output
        return result

    def json(self, *arguments: str, stdin: str = "") -> list[dict[str, Any]]:
        output = self.run(*arguments, "--json", stdin=stdin).stdout
        return [json.loads(line) for line in output.splitlines()]

    def open(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [OTTLA, *arguments],
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(scope="module")
def ottla(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    with running_node(tmp_path_factory.mktemp("node")) as node:
        yield CommandLine(node.bootstrap)


def test_topics_live_from_create_to_delete(ottla: CommandLine) -> None:
    created = ottla.run("topics", "create", "t1", "t2", "-p", "3", "-c", "retention.ms=3600000")
    assert sorted(created.stdout.splitlines()) == ["created t1", "created t2"]
    again = ottla.run("topics", "create", "t1", exit_code=1)
    assert "TOPIC_ALREADY_EXISTS" in again.stderr
    assert ottla.run("topics", "create", "t1", "--if-not-exists").stdout == "exists t1\n"
    listed = {topic["topic"]: topic for topic in ottla.json("topics", "list")}
    assert listed["t2"]["partitions"] == 3
    assert "t2" in ottla.run("topics", "list").stdout
    (described,) = ottla.json("topics", "describe", "t1")
    assert described["configs"] == {"retention.ms": "3600000"}
    assert [found["partition"] for found in described["partitions"]] == [0, 1, 2]
    assert "t1: 4 partitions now, 3 before" in ottla.run("topics", "grow", "t1", "-p", "4").stdout
    assert "INVALID_PARTITIONS" in ottla.run("topics", "grow", "t1", "-p", "2", exit_code=1).stderr
    assert "Add --yes" in ottla.run("topics", "delete", "t1", exit_code=2).stderr
    assert ottla.json("topics", "delete", "t1", "t2", "--yes") == [
        {"topic": name, "outcome": "deleted"} for name in ("t1", "t2")
    ]
    assert not {"t1", "t2"} & {topic["topic"] for topic in ottla.json("topics", "list")}


def test_an_unknown_topic_config_is_refused_with_a_suggestion(ottla: CommandLine) -> None:
    refused = ottla.run("topics", "create", "t3", "-c", "retentionms=4", exit_code=1)
    assert "did you mean retention.ms?" in refused.stderr


def test_a_profile_names_the_cluster_and_the_properties(
    ottla: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    here = ottla.environment["OTTLA_BOOTSTRAP"]
    elsewhere = CommandLine("")
    elsewhere.run("topics", "list", exit_code=3)
    elsewhere.run("profile", "create", "here", "-b", here, "-X", "client.id=me", "-X", "acks=1")
    elsewhere.run("topics", "create", "profiled")
    assert "profiled" in elsewhere.run("topics", "list").stdout
    elsewhere.run("produce", "profiled", "--value", "one")
    elsewhere.run("quorum", "status")
    elsewhere.run("topics", "list", "-b", "127.0.0.1:1", exit_code=3)
    elsewhere.run("topics", "list", "-b", "127.0.0.1:1", "--profile", "here", exit_code=3)
    gone = CommandLine("127.0.0.1:1")
    gone.run("topics", "list", exit_code=3)
    gone.run("topics", "list", "--profile", "here")
    monkeypatch.setenv("OTTLA_PROFILE", "there")
    assert "no profile there" in elsewhere.run("topics", "list", exit_code=2).stderr


def test_properties_of_the_client_are_used_or_refused(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "tuned", "-X", "client.id=me")
    ottla.run("produce", "tuned", "-X", "linger.ms=1", "-X", "acks=1", "-v", "one")
    assert ottla.run("consume", "tuned", "-X", "fetch.min.bytes=1").stdout == "one\n"
    unknown = ottla.run("consume", "tuned", "-X", "fetch.min.byte=1", exit_code=2)
    assert "fetch.min.byte" in unknown.stderr
    assert "--group" in ottla.run("consume", "tuned", "-X", "group.id=g", exit_code=2).stderr
    for command in (("topics", "list"), ("quorum", "status"), ("cluster", "status")):
        insecure = ottla.run(*command, "-X", "security.protocol=SSL", exit_code=3)
        assert "No secure connection" in insecure.stderr


def test_one_topic_of_several_may_fail(ottla: CommandLine) -> None:
    result = ottla.run("topics", "create", "half", "bad name", "--json", exit_code=1)
    outcomes = {
        line["topic"]: line["outcome"] for line in map(json.loads, result.stdout.splitlines())
    }
    assert outcomes == {"half": "created", "bad name": "refused"}
    assert "bad name" in result.stderr


def test_configs_are_set_described_and_deleted(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "configured")
    of_topic = ("--topic", "configured")
    (now,) = ottla.json("configs", "set", *of_topic, "retention.ms=60000")
    assert (now["value"], now["source"]) == ("60000", "dynamic_topic_config")
    assert "60000" in ottla.run("configs", "describe", *of_topic).stdout
    (now,) = ottla.json("configs", "delete", *of_topic, "retention.ms")
    assert (now["value"], now["source"]) == ("604800000", "default_config")
    assert len(ottla.json("configs", "describe", *of_topic, "--all")) > 20
    wrong = ottla.run("configs", "set", *of_topic, "retention.msec=1", exit_code=1)
    assert "Did you mean retention.ms" in wrong.stderr
    assert (
        "INVALID_CONFIG"
        in ottla.run("configs", "set", *of_topic, "retention.ms=soon", exit_code=1).stderr
    )
    ottla.run("configs", "describe", exit_code=2)


def test_configs_of_brokers(ottla: CommandLine) -> None:
    (now,) = ottla.json("configs", "set", "--broker", "1", "log.retention.ms=770000")
    assert (now["broker"], now["value"]) == ("1", "770000")
    ottla.run("configs", "delete", "--broker", "1", "log.retention.ms")
    assert "log.dirs" in ottla.run("configs", "describe", "--broker", "1").stdout
    unknown = ottla.run("configs", "describe", "--broker", "9", exit_code=1)
    assert "its brokers are 1." in unknown.stderr


def test_configs_of_groups(ottla: CommandLine) -> None:
    of_group = ("--group", "billing")
    session = "consumer.session.timeout.ms"
    of_clients = ("--client-metrics", "slow")
    (now,) = ottla.json("configs", "set", *of_clients, "match=client_id=orders-.*")
    assert (now["client_metrics"], now["value"]) == ("slow", "client_id=orders-.*")
    (now,) = ottla.json("configs", "describe", *of_clients)
    assert (now["name"], now["source"]) == ("match", "client_metrics_config")
    wrong = ottla.run("configs", "set", *of_clients, "interval.ms=5", exit_code=1)
    assert "interval must be between" in wrong.stderr
    (now,) = ottla.json("configs", "delete", *of_clients, "match")
    assert now["value"] == ""

    (now,) = ottla.json("configs", "set", *of_group, f"{session}=50000")
    assert (now["group"], now["value"], now["source"]) == ("billing", "50000", "group_config")
    described = ottla.run("configs", "describe", *of_group).stdout
    assert [line.split() for line in described.splitlines()[1:]] == [[session, "group", "50000"]]
    low = ottla.run("configs", "set", *of_group, f"{session}=1", exit_code=1)
    assert "group.consumer.min.session.timeout.ms (45000)" in low.stderr.replace("\n", " ")
    (now,) = ottla.json("configs", "delete", *of_group, session)
    assert (now["value"], now["source"]) == ("45000", "default_config")
    ottla.run("configs", "describe", *of_group, "--topic", "t", exit_code=2)


def test_lines_come_back_as_they_went(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "lines")
    summary = ottla.run("produce", "lines", stdin="one\ntwo\n\nfour")
    assert summary.stdout.startswith("4 records (10 bytes) to lines")
    assert ottla.run("consume", "lines").stdout == "one\ntwo\n\nfour\n"
    assert ottla.run("consume", "lines", "--from", "-1").stdout == "four\n"
    assert ottla.run("consume", "lines", "--from", "1", "--max", "1").stdout == "two\n"
    assert ottla.run("consume", "lines", "--from", "end").stdout == ""
    assert ottla.run("consume", "lines", "--hex", "--offsets", "-n", "1").stdout == "0\t0\t6f6e65\n"


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_values_go_through_every_codec(ottla: CommandLine, codec: str) -> None:
    ottla.run("topics", "create", "codecs", "--if-not-exists")
    ottla.run("produce", "codecs", "--value", codec * 50, "--compression", codec)
    assert ottla.run("consume", "codecs", "--from", "-1").stdout == codec * 50 + "\n"


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_kind_of_acknowledgement(ottla: CommandLine, acks: str) -> None:
    ottla.run("topics", "create", "acks", "--if-not-exists")
    (summary,) = ottla.json("produce", "acks", "--value", acks, "--acks", acks)
    assert summary["records"] == 1


def test_records_keep_keys_headers_times_and_partitions(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "full", "-p", "3")
    ottla.run(
        "produce", "full", "-v", "paid", "-k", "42", "-H", "a=1", "-H", "a=2", "-p", "2",
        "--timestamp", "2020-01-02T03:04",
    )  # fmt: skip
    (record,) = ottla.json("consume", "full", "-p", "2")
    assert record == {
        "topic": "full",
        "partition": 2,
        "offset": 0,
        "timestamp": 1_577_934_240_000,
        "timestamp_type": "create_time",
        "key": "42",
        "value": "paid",
        "headers": [{"key": "a", "value": "1"}, {"key": "a", "value": "2"}],
    }
    line = ottla.run("consume", "full", "--keys", "--headers", "--timestamps").stdout
    assert line == "2020-01-02 03:04:00.000\ta=1,a=2\t42\tpaid\n"
    assert ottla.run("consume", "full", "-p", "0").stdout == ""


def test_keys_go_where_apache_kafkas_client_puts_them(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "keyed", "-p", "4")
    lines = "".join(f"{number}:v\n" for number in range(8))
    ottla.run("produce", "keyed", *QUICK, "-F", "key-value", stdin=lines)
    # What the Java client's murmur2 makes of these keys.
    expected = {"0": 0, "1": 3, "2": 0, "3": 3, "4": 1, "5": 2, "6": 2, "7": 3}
    found = {record["key"]: record["partition"] for record in ottla.json("consume", "keyed")}
    assert found == expected


def test_a_topic_is_copied_record_by_record(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "source", "copy", "-p", "2")
    lines = [
        {"key": "k", "value": "v", "headers": {"h": "x"}, "partition": 1, "timestamp": 5},
        {"key": "/w==", "key_encoding": "base64", "value": None, "partition": 0, "timestamp": 6},
    ]
    ottla.run("produce", "source", *QUICK, "-F", "json", stdin="\n".join(map(json.dumps, lines)))
    printed = ottla.run("consume", "source", "--json").stdout
    ottla.run("produce", "copy", *QUICK, "-F", "json", stdin=printed)
    copied = ottla.run("consume", "copy", "--json").stdout
    assert copied == printed.replace('"topic":"source"', '"topic":"copy"')


def test_raw_bytes_of_a_file_are_one_record(ottla: CommandLine, tmp_path: Path) -> None:
    data = bytes(range(256)) * 10
    (tmp_path / "data").write_bytes(data)
    ottla.run("topics", "create", "raw")
    ottla.run("produce", "raw", *QUICK, "-F", "raw", "--file", str(tmp_path / "data"))
    assert ottla.run("consume", "raw").stdout_bytes == data + b"\n"


def test_a_bad_line_stops_after_those_before_it(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "stopped")
    lines = "a:1\nb\nc:3\n"
    result = ottla.run("produce", "stopped", *QUICK, "-F", "key-value", stdin=lines, exit_code=2)
    assert "Line 2" in result.stderr
    assert ottla.run("consume", "stopped").stdout == "1\n"


def test_a_record_that_the_cluster_refuses(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "small", "-c", "max.message.bytes=1000")
    result = ottla.run("produce", "small", "-v", "x" * 2_000, exit_code=1)
    assert "MESSAGE_TOO_LARGE" in result.stderr
    assert "max.message.bytes" in result.stderr


def test_offsets_by_place_and_time(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "timed", "-p", "2")
    for day in ("01", "02", "03"):
        ottla.run("produce", "timed", "-p", "1", "-v", day, "--timestamp", f"2020-01-{day}")
    plain = ottla.json("offsets", "timed")
    assert [(row["earliest"], row["latest"]) for row in plain] == [(0, 0), (0, 3)]
    (row,) = ottla.json("offsets", "timed", "-p", "1", "--at", "2020-01-01T12:00")
    assert (row["at_time"], row["at_time_timestamp"]) == (1, 1_577_923_200_000)
    assert ottla.run("consume", "timed", "--from", "2020-01-02").stdout == "02\n03\n"
    assert "length" in ottla.run("offsets", "timed").stdout
    ottla.run("offsets", "timed", "--at", "never", exit_code=2)


def test_unknown_topics_and_partitions_are_refused(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "customers", "--if-not-exists")
    for command in (
        ("consume", "custmers"),
        ("produce", "custmers", "-v", "x"),
        ("offsets", "custmers"),
        ("topics", "describe", "custmers"),
        ("topics", "delete", "custmers", "--yes"),
        ("configs", "describe", "--topic", "custmers"),
    ):
        assert "Did you mean customers?" in ottla.run(*command, exit_code=1).stderr
    wrong = ottla.run("consume", "customers", "-p", "5", exit_code=1)
    assert "Topic customers has no partition 5" in wrong.stderr
    assert "custmers" not in ottla.run("topics", "list").stdout


def test_following_shows_what_comes_and_ends_with_an_interrupt(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "followed")
    ottla.run("produce", "followed", "-v", "before")
    with ottla.open("consume", "followed", "--follow") as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline() == "before\n"
        ottla.run("produce", "followed", "-v", "after")
        assert follower.stdout.readline() == "after\n"
        follower.send_signal(signal.SIGINT)
        assert follower.wait(10) == 0


def test_the_oldest_records_are_deleted(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "trimmed", "-p", "2")
    for partition in ("0", "1"):
        ottla.run("produce", "trimmed", "--partition", partition, stdin="one\ntwo\nthree\n")
    trim = ("topics", "delete-records", "trimmed")
    assert "--yes" in ottla.run(*trim, "--before", "1", exit_code=2).stderr
    (only,) = ottla.json(*trim, "--before", "1", "--partition", "0", "--yes")
    assert only == {"topic": "trimmed", "partition": 0, "earliest": 1, "earliest_before": 0}
    assert ottla.run("consume", "trimmed", "-p", "0").stdout == "two\nthree\n"
    kept_one = ottla.json(*trim, "--before", "-1", "--yes")
    assert [(each["partition"], each["earliest"]) for each in kept_one] == [(0, 2), (1, 2)]
    assert "no offset 4" in ottla.run(*trim, "--before", "4", "--yes", exit_code=2).stderr
    assert ottla.run(*trim, "--before", "@1", "--yes").stdout == ""
    assert ottla.run(*trim, "--before", "end", "--yes").stdout.split()[:2] == [
        "partition",
        "earliest",
    ]
    assert ottla.run("consume", "trimmed").stdout == ""


def test_a_group_goes_on_where_it_was(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "shared")
    ottla.run("produce", "shared", stdin="one\ntwo\nthree\n")
    group = ("consume", "shared", "--group", "g1", "-X", "group.protocol=consumer")
    assert ottla.run(*group, "--max", "2", "--format", r"%o %v\n").stdout == "0 one\n1 two\n"
    assert ottla.run(*group).stdout == "three\n"
    assert ottla.run(*group).stdout == ""
    (lag,) = ottla.json("groups", "describe", "g1")
    assert (lag["committed"], lag["lag"], lag["member_id"]) == (3, 0, None)
    ottla.run(*group, "--partition", "0", exit_code=2)
    ottla.run(*group, "--from", "-3", exit_code=2)


def test_a_member_that_is_interrupted_commits_and_leaves(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "members")
    ottla.run("produce", "members", "-v", "before")
    with ottla.open("consume", "members", "--group", "g2", "--follow") as member:
        assert member.stdout is not None
        assert member.stdout.readline() == "before\n"
        member.send_signal(signal.SIGINT)
        assert member.wait(10) == 0
    (group,) = [each for each in ottla.json("groups", "list") if each["id"] == "g2"]
    assert group["state"] == "empty"
    (lag,) = ottla.json("groups", "describe", "g2")
    assert lag["committed"] == 1


def test_a_reader_may_leave_early(ottla: CommandLine) -> None:
    ottla.run("topics", "create", "long")
    ottla.run("produce", "long", *QUICK, stdin="x" * 100 + "\n" + "y\n" * 50_000)
    with ottla.open("consume", "long") as consumer:
        assert consumer.stdout is not None
        assert consumer.stdout.readline() == "x" * 100 + "\n"
        consumer.stdout.close()
        assert consumer.wait(10) == 0


def test_a_benchmark_measures_and_cleans_up(ottla: CommandLine) -> None:
    found = ottla.json("bench", "--seconds", "1.5", "--rate", "200", "--size", "100", *QUICK)
    assert [line["test"] for line in found] == ["produce", "consume", "latency", "latency"]
    assert 0 < found[1]["records"] <= found[0]["records"]
    assert found[3]["records"] == 300
    assert not [t for t in ottla.json("topics", "list") if t["topic"].startswith("ottla-bench")]
