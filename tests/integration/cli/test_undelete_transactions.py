"""Transactions that were open in a topic when it was deleted."""

from __future__ import annotations

import json

from confluent_kafka import Consumer, Producer, TopicPartition
from typer.testing import CliRunner

from ottla.cli.main import make_app
from ottla.testing import Cluster

KEPT = {"ottla.delete.retention.ms": "60000"}


def ottla(cluster: Cluster, *arguments: str) -> str:
    command = [*arguments, "--bootstrap", cluster.bootstrap]
    result = CliRunner().invoke(make_app(arguments[0]), command)
    assert result.exit_code == 0, result.output
    return result.stdout


def producer(cluster: Cluster, transactional_id: str) -> Producer:
    client = {"bootstrap.servers": cluster.bootstrap, "transactional.id": transactional_id}
    found = Producer({**client, "topic.metadata.refresh.interval.ms": 100, "log_level": 0})
    found.init_transactions(30)
    return found


def committed(cluster: Cluster, count: int) -> list[bytes]:
    """The first records that a consumer of committed ones reads."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition("orders", 0, 0)])
    read = [message.value() or b"" for message in consumer.consume(count, timeout=30)]
    consumer.close()
    return read


def test_those_that_ended_meanwhile_are_aborted_and_others_go_on() -> None:
    with Cluster(properties={**KEPT, "auto.create.topics.enable": "false"}) as cluster:
        ottla(cluster, "topics", "create", "orders")
        ottla(cluster, "topics", "create", "others")
        before, ended, open_still = (producer(cluster, each) for each in ("a", "b", "c"))
        before.begin_transaction()
        before.produce("orders", b"committed before")
        before.commit_transaction(30)
        for each, value in ((ended, b"ended meanwhile"), (open_still, b"still open")):
            each.begin_transaction()
            each.produce("orders", value, partition=0)
            each.produce("others", value, partition=0)
            assert each.flush(30) == 0

        ottla(cluster, "topics", "delete", "orders", "--yes")
        ended.commit_transaction(30)
        (restored,) = map(
            json.loads, ottla(cluster, "topics", "undelete", "orders", "--json").splitlines()
        )
        assert restored["aborted_transactions"] == 1
        open_still.commit_transaction(30)

        assert committed(cluster, 2) == [b"committed before", b"still open"]
        assert ottla(cluster, "transactions", "find-hanging", "--topic", "orders", "--json") == ""
