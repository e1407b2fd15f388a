"""`ottla pipelines redrive`: rejected records go back to where they came from, each once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from ottla.cli.main import make_app
from ottla.client import Consumer, Producer
from ottla.testing import Cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        for topic in ("flights", "rejected", "elsewhere"):
            cluster.create_topic(topic)
        yield cluster


def reject(cluster: Cluster, *values: bytes) -> None:
    """As the query of rejected records writes them."""

    async def send() -> None:
        async with Producer(bootstrap_servers=cluster.bootstrap) as producer:
            for value in values:
                headers = [
                    ("trace", b"1"),
                    ("reason", b"is not JSON"),
                    ("topic", b"flights"),
                    ("partition", b"0"),
                    ("offset", b"7"),
                ]
                await producer.send("rejected", value, key=b"key", headers=headers)

    asyncio.run(send())


def read(cluster: Cluster, topic: str) -> list[tuple[bytes | None, bytes | None, object]]:
    async def records() -> list[tuple[bytes | None, bytes | None, object]]:
        async with Consumer(
            bootstrap_servers=cluster.bootstrap,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
        ) as consumer:
            (partition,) = await consumer.partitions_for(topic)
            consumer.assign([partition])
            end = (await consumer.end_offsets([partition]))[partition]
            found = []
            while await consumer.position(partition) < end:
                found += await consumer.poll(1.0)
            return [(each.key, each.value, list(each.headers)) for each in found]

    return asyncio.run(records())


def redrive(cluster: Cluster, *options: str) -> tuple[int, str]:
    command = ["pipelines", "redrive", *options, "-b", cluster.bootstrap]
    result = CliRunner().invoke(make_app("pipelines"), command)
    return result.exit_code, " ".join(result.output.split())


def test_rejected_records_are_sent_back_once(cluster: Cluster) -> None:
    reject(cluster, b"one", b"two")
    shown = "records to reason 2 flights is not JSON"
    assert redrive(cluster, "rejected") == (0, f"{shown} Nothing was sent: add --execute.")
    assert read(cluster, "flights") == []
    assert redrive(cluster, "rejected", "--execute") == (0, shown)
    sent = [(b"key", value, [("trace", b"1")]) for value in (b"one", b"two")]
    assert read(cluster, "flights") == sent
    assert redrive(cluster, "rejected", "--execute") == (0, "nothing to redrive in rejected")
    reject(cluster, b"three")
    _, output = redrive(cluster, "rejected", "--to", "elsewhere", "--execute")
    assert output == "records to reason 1 elsewhere is not JSON"
    assert read(cluster, "flights") == sent
    assert [value for _, value, _ in read(cluster, "elsewhere")] == [b"three"]


def test_records_that_no_pipeline_rejected_are_not_sent(cluster: Cluster) -> None:
    async def send() -> None:
        async with Producer(bootstrap_servers=cluster.bootstrap) as producer:
            await producer.send("flights", b"fine")

    asyncio.run(send())
    code, output = redrive(cluster, "flights", "--to", "elsewhere", "--execute")
    assert code == 1
    assert "was not rejected by a pipeline" in output
    assert read(cluster, "elsewhere") == []
    code, output = redrive(cluster, "nothing-here")
    assert (code, output) == (1, "There is no topic nothing-here.")
