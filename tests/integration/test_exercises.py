"""Exercises that anybody who learns about logs does first, with real clients and a real node."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer
from typer.testing import CliRunner

from ottla.cli.main import make_app
from ottla.runtime.system_clock import SystemClock, sleep_blocking
from ottla.testing import Cluster

WAIT_SECONDS = 20.0


def dumped(partition: Path, *options: str) -> list[dict[str, object]]:
    result = CliRunner().invoke(
        make_app("dump"), ["dump", "--json", *options, *map(str, _logs(partition))]
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


def _logs(partition: Path) -> list[Path]:
    return sorted(partition.glob("*.log"))


def wait_until(holds: Callable[[], bool]) -> None:
    clock = SystemClock()
    deadline = clock.monotonic() + WAIT_SECONDS
    while not holds():
        assert clock.monotonic() < deadline, "it did not come about"
        sleep_blocking(0.05)


def test_older_records_of_a_key_are_compacted_away(tmp_path: Path) -> None:
    properties = {"log.cleaner.backoff.ms": "50", "log.segment.delete.delay.ms": "0"}
    with Cluster(data_dir=tmp_path, properties=properties) as cluster:
        cluster.create_topic(
            "accounts",
            configs={
                "cleanup.policy": "compact",
                "min.cleanable.dirty.ratio": "0.01",
                "segment.ms": "1",
            },
        )
        producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 0})
        now_ms = SystemClock().now_ms()
        for number in range(100):
            # Ten milliseconds apart, so that each is in a segment of its own.
            timestamp = now_ms + 10 * number
            producer.produce("accounts", b"%d" % number, key=b"alice", timestamp=timestamp)
            assert producer.flush(10) == 0
        partition = tmp_path / "accounts-0"

        def values() -> list[object]:
            rows = dumped(partition, "--deep")
            return [row["value"] for row in rows if row.get("key") == "alice"]

        # The active segment is never compacted: it may keep its own record.
        wait_until(lambda: 1 <= len(values()) <= 2)
        assert values()[-1] == "99"


@pytest.mark.parametrize("acks", ["1", "all"])
def test_many_messages_are_sent_and_counted(acks: str) -> None:
    with Cluster() as cluster:
        cluster.create_topic("load", partitions=3)
        result = CliRunner().invoke(
            make_app("bench"),
            [
                "bench",
                *("--bootstrap", cluster.bootstrap, "--seconds", "1.5", "--acks", acks),
                *("--rate", "100"),
                "--json",
            ],
        )

    assert result.exit_code == 0, result.output
    produced, consumed = (json.loads(line) for line in result.stdout.splitlines()[:2])
    assert produced["records"] > 1_000
    assert 0 < consumed["records"] <= produced["records"]


def test_one_message_is_followed_from_send_to_commit() -> None:
    result = CliRunner().invoke(make_app("trace"), ["trace", "--sync", "--json"])

    assert result.exit_code == 0, result.output
    steps = [json.loads(line) for line in result.stdout.splitlines()]
    names = [step["what"] for step in steps]
    for earlier, later in (
        ("build the record batch, compute its CRC-32C", "send"),
        ("check header and CRC-32C", "write (pwrite)"),
        ("write (pwrite)", "sync to the device (fdatasync)"),
        ("sync to the device (fdatasync)", "decode the response"),
    ):
        assert names.index(earlier) < names.index(later)
    assert all(step["took_us"] >= 0 for step in steps)
