"""Copies records from topic to topic in transactions, as a process that anybody may kill.

Each transaction has the copies and how far the group has come. What cannot go on ends with an error
and is started again; a new process with the same transactional id fences the old one.

librdkafka may hang in `send_offsets_to_transaction` after the group's coordinator has gone, and
takes no notice of timeouts then (its issues 5456 and 5511). Nodes avoid the common cases; for those
that are left, such as a coordinator that was gone long before, the process has a watchdog.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

FATAL = 3
HUNG = 4
# Longer than a transaction takes whose nodes are there again.
TRANSACTION_SECONDS_MAX = 10.0
POLL_SECONDS = 0.2
_COMMON: dict[str, Any] = {
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 200,
    "retry.backoff.ms": 20,
    "socket.timeout.ms": 5_000,
    "log_level": 0,
}


class Order(NamedTuple):
    """What to copy. A transaction stays open for `work_ms` before it is committed."""

    # The configs with which to connect, as JSON.
    client: str
    group: str
    transactional_id: str
    source: str
    target: str
    transaction_size: int
    work_ms: int

    @property
    def client_configs(self) -> dict[str, Any]:
        configs: dict[str, Any] = json.loads(self.client)
        return configs

    @property
    def arguments(self) -> list[str]:
        return [str(each) for each in self]

    @classmethod
    def of(cls, arguments: list[str]) -> Order:
        client, group, transactional_id, source, target, size, work_ms = arguments
        return cls(client, group, transactional_id, source, target, int(size), int(work_ms))


class Copier:
    def __init__(self, order: Order) -> None:
        self._order = order
        self._gathered: list[Message] = []
        self._consumer = Consumer(
            {
                **_COMMON,
                **order.client_configs,
                "group.id": order.group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "session.timeout.ms": 2_000,
                "heartbeat.interval.ms": 200,
            }
        )
        self._producer = Producer(
            {
                **_COMMON,
                **order.client_configs,
                "transactional.id": order.transactional_id,
                "transaction.timeout.ms": 20_000,
            }
        )

    def run(self) -> None:
        _until_done(self._producer.init_transactions)
        # With callbacks, a rebalance happens while the copier asks for records and not under it.
        self._consumer.subscribe(
            [self._order.source], on_assign=self._rebalanced, on_revoke=self._rebalanced
        )
        while True:
            records = self._gather()
            if records:
                watchdog = threading.Timer(TRANSACTION_SECONDS_MAX, os._exit, [HUNG])
                watchdog.daemon = True
                watchdog.start()
                self._copy(records)
                watchdog.cancel()

    def _gather(self) -> list[Message]:
        """A transaction's worth, or what there is for now."""
        self._gathered = []
        while len(self._gathered) < self._order.transaction_size:
            record = self._consumer.poll(POLL_SECONDS)
            if record is None:
                break
            if record.error() is None:
                self._gathered.append(record)
        return self._gathered

    def _copy(self, records: list[Message]) -> None:
        try:
            self._producer.begin_transaction()
            for record in records:
                self._producer.produce(
                    self._order.target, record.value(), partition=_place(record).partition
                )
            self._producer.poll(self._order.work_ms / 1_000)
            positions = {_place(record): record.offset() for record in records}
            self._send_offsets(positions)
            _until_done(self._producer.commit_transaction)
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            _until_done(self._producer.abort_transaction)
            self._rewind()

    def _send_offsets(self, last_offsets: dict[TopicPartition, int | None]) -> None:
        offsets = [
            TopicPartition(place.topic, place.partition, (offset or 0) + 1)
            for place, offset in last_offsets.items()
        ]
        group = self._consumer.consumer_group_metadata()
        _until_done(lambda: self._producer.send_offsets_to_transaction(offsets, group))

    def _rewind(self) -> None:
        """Goes back to where the group is: what was aborted is copied again."""
        committed = self._consumer.committed(self._consumer.assignment(), timeout=20)
        for each in committed:
            self._consumer.seek(TopicPartition(each.topic, each.partition, max(each.offset, 0)))

    def _rebalanced(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        """What came before may be somebody else's by now, or comes again."""
        self._gathered = []


def _place(record: Message) -> TopicPartition:
    topic, partition = record.topic(), record.partition()
    assert topic is not None
    assert partition is not None
    return TopicPartition(topic, partition)


def _until_done(step: Callable[[], object]) -> None:
    while True:
        try:
            step()
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
        else:
            return


if __name__ == "__main__":
    try:
        Copier(Order.of(sys.argv[1:])).run()
    except KafkaException as error:
        print(error, file=sys.stderr)
        sys.exit(FATAL)
