"""Apache Kafka as the broker, with as much of `ottla.testing.Cluster` as tests use of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.versus.servers import KafkaServer, fresh
from tests.conformance.clients import TIMEOUT_S


class Broker(Protocol):
    """What tests ask of whichever broker they have."""

    @property
    def bootstrap(self) -> str: ...

    def create_topic(
        self, name: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None: ...


class KafkaBroker:
    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def create_topic(
        self, name: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        topic = NewTopic(name, partitions, 1, config=dict(configs or {}))
        self._admin.create_topics([topic])[name].result()
        # The broker gets it a moment after the controller has created it.
        while self._admin.list_topics(name, TIMEOUT_S).topics[name].error is not None:
            pass


@contextmanager
def kafka_broker(settings: Mapping[str, str] | None = None) -> Iterator[KafkaBroker]:
    """Runs a broker of its own, in a process of its own, while the body does its work."""
    with fresh(KafkaServer, settings or {}) as server:
        server.start()
        yield KafkaBroker(server.address)
