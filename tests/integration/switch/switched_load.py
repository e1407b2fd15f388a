"""The load of a cluster that is switched: it moves to other listeners while it goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.integration.cluster.agreement import assert_read_back
from tests.integration.cluster.load import Reader, TimedProducer
from tests.integration.transactions.copier import Order
from tests.integration.transactions.copiers import Copiers, command
from tests.support.nodes.cluster_processes import wait_until

SOURCE, TARGET, GROUP = "source", "target", "copiers"
COPIERS = 2


class SwitchedLoad:
    """A producer with acks=all, a reader, and two members of a consumer group that copy the records
    in transactions, during its `with`."""

    def __init__(self, client: Mapping[str, Any], partitions: int, scratch: Path) -> None:
        self.partitions = partitions
        self._client = client
        self._producers: list[TimedProducer] = [TimedProducer(client, SOURCE, partitions)]
        self._reader = Reader(client, SOURCE, partitions)
        commands = [command(self._order(number)) for number in range(COPIERS)]
        self.copiers = Copiers(commands, scratch / "copiers.txt")
        self._clients = ExitStack()

    def __enter__(self) -> Self:
        self.copiers.__enter__()
        self._clients.enter_context(self._reader)
        self._clients.enter_context(self.producer)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._clients.__exit__(kind, error, traceback)
        self.copiers.__exit__(kind, error, traceback)

    @property
    def producer(self) -> TimedProducer:
        return self._producers[-1]

    @property
    def gap_seconds_max(self) -> float:
        return max(each.gap_seconds_max for each in self._producers)

    def move(self, client: Mapping[str, Any]) -> None:
        """Moves all clients; the copiers one after the other, so that the group has members of both
        kinds for a while."""
        self._client = client
        self.finish_writing()
        self._producers.append(
            TimedProducer(client, SOURCE, self.partitions, predecessor=self.producer)
        )
        self._reader = Reader(client, SOURCE, self.partitions)
        self._clients.enter_context(self._reader)
        self._clients.enter_context(self.producer)
        for number in range(COPIERS):
            self.copiers.replace(number, command(self._order(number)))
            self.wait_copied(more=100)

    def finish_writing(self) -> None:
        """Returns when everything is acknowledged, and has been read in order."""
        producer, reader = self.producer, self._reader
        clients, self._clients = self._clients, ExitStack()
        with clients:
            producer.__exit__(None, None, None)
            assert_read_back(producer, reader)

    def wait_copied(self, *, more: int | None = None) -> None:
        """Returns when the group has committed so many more records, or all."""
        places = [TopicPartition(SOURCE, index) for index in range(self.partitions)]
        reader = Consumer({**self._client, "group.id": GROUP, "log_level": 0})

        def copied() -> int:
            try:
                committed = reader.committed(places, timeout=5)
            except KafkaException:
                return 0
            return sum(max(each.offset, 0) for each in committed if each.error is None)

        try:
            goal = self.producer.acknowledged_count if more is None else copied() + more
            wait_until(lambda: copied() >= goal, f"{goal} records are copied")
        finally:
            reader.close()

    def end_transactions(self) -> None:
        """Takes the copiers' places: what they left open would hide what was committed after it."""
        for number in range(COPIERS):
            transactional_id = self._order(number).transactional_id
            producer = Producer({**self._client, "transactional.id": transactional_id})
            producer.init_transactions(30)

    def _order(self, number: int) -> Order:
        return Order(
            json.dumps(dict(self._client)), GROUP, f"copier-{number}", SOURCE, TARGET, 50, 10
        )
