"""Thousands of partitions of three replicas each on three Ottla nodes: made, served, idle, moved.

`python -m benchmarks partitions`: 10,000 of them, which takes some minutes; 600 with --quick.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaError, Message, Producer

from benchmarks.cluster.amount import FULL, QUICK
from benchmarks.cluster.clusters import NODES, Cluster, OttlaCluster, fresh_cluster
from benchmarks.cluster.node_process import NodeProcess
from benchmarks.cluster.topics import is_in_step, is_led
from benchmarks.cluster.view import Condition, active_controller, partitions_of, wait_partitions
from benchmarks.figure import Figure
from benchmarks.versus.comparison import NO_BOUND, Bound, Report
from benchmarks.versus.wire_client import create_topics

TOPICS_PER_REQUEST = 10
# What creating and serving leave to be done is not idling.
SETTLE_S = 5.0
RECORD = bytes(1_000)
FLUSH_TIMEOUT_S = 300.0
TIMEOUT_S = 600.0
EVEN = Bound(value_max=10)
IDLE = Bound(value_max=10)


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    amount = QUICK if quick else FULL
    names = [f"topic-{number}" for number in range(amount.topics)]
    with fresh_cluster(OttlaCluster) as cluster:
        report("starting")
        cluster.start()
        load = ManyPartitions(cluster, names, amount.partitions // amount.topics)
        before_bytes = cluster.resident_bytes()
        report(f"creating {load.count:,} partitions of {NODES} replicas")
        yield from load.creation(note)
        report(f"producing to {load.count:,} partitions")
        yield load.production()
        grown_kilobytes = (cluster.resident_bytes() - before_bytes) / 1_000
        yield _figure(
            "resident memory of the three per partition", grown_kilobytes / load.count, "KB"
        )
        report(f"idling with {load.count:,} partitions")
        yield load.idling(amount.scale.idle_s)
        report(f"restarting a node with {load.count:,} partitions")
        yield load.restart()
        report(f"killing a node with {load.count:,} partitions")
        yield load.failover()


@dataclass(frozen=True, slots=True)
class ManyPartitions:
    """The cluster, and the topics that `creation` makes in it and all else needs."""

    cluster: Cluster
    names: Sequence[str]
    partitions: int

    @property
    def count(self) -> int:
        return len(self.names) * self.partitions

    def creation(self, note: Callable[[str], None]) -> Iterator[Figure]:
        address = self.cluster.nodes[0].address
        started = time.perf_counter()
        for first in range(0, len(self.names), TOPICS_PER_REQUEST):
            some = self.names[first : first + TOPICS_PER_REQUEST]
            create_topics(address, some, partitions=self.partitions, replication_factor=NODES)
        self._wait(self.cluster.addresses, is_in_step, "all in step")
        creation_s = time.perf_counter() - started
        yield _figure(f"create {self.count:,} x {NODES} partitions, all in step", creation_s, "s")
        led = self._led_by_node()
        note(f"leaders of {self.count:,} partitions by node: {dict(sorted(led.items()))}")
        uneven_percent = (max(led.values()) * NODES / self.count - 1) * 100
        yield _figure("leaders of the fullest node above its share", uneven_percent, "%", EVEN)

    def production(self) -> Figure:
        """A record to each partition, by acks=all: it waits for replicas still to be made."""
        refused: list[KafkaError] = []

        def on_delivery(error: KafkaError | None, message: Message) -> None:  # noqa: ARG001
            if error is not None:
                refused.append(error)

        settings = {"bootstrap.servers": self.cluster.bootstrap, "acks": "all"}
        producer = Producer(settings | {"on_delivery": on_delivery})
        started = time.perf_counter()
        for name in self.names:
            for partition in range(self.partitions):
                producer.produce(name, RECORD, partition=partition)
            producer.poll(0)
        left = producer.flush(FLUSH_TIMEOUT_S)
        if left or refused:
            raise RuntimeError(f"{left} records were not acknowledged; refused: {refused[:5]}")
        return _figure("a record to each, acks=all", time.perf_counter() - started, "s")

    def idling(self, idle_s: float) -> Figure:
        time.sleep(SETTLE_S)
        before_s = [node.cpu_seconds() for node in self.cluster.nodes]
        time.sleep(idle_s)
        used_s = [
            node.cpu_seconds() - before
            for node, before in zip(self.cluster.nodes, before_s, strict=True)
        ]
        return _figure(
            f"idle for {idle_s:g} s, the busiest node", max(used_s) / idle_s * 100, "% CPU", IDLE
        )

    def restart(self) -> Figure:
        """Stopped in order, then timed from its start until it is in every ISR again."""
        node = self._not_controllers()[0]
        node.request_stop()
        node.wait_stopped()
        started = time.perf_counter()
        node.start()
        self._wait(self.cluster.addresses, is_in_step, "all in step")
        return _figure("a node restarted, in every ISR", time.perf_counter() - started, "s")

    def failover(self) -> Figure:
        """Until the others both say of each partition that one of them leads it.

        A node that was restarted leads nothing for a while: the one that is killed leads most.
        """
        led = self._led_by_node()
        victim = max(self._not_controllers(), key=lambda node: led[node.id])
        struck = time.perf_counter()
        victim.kill()
        self._wait(
            self.cluster.addresses_without(victim),
            lambda partition: is_led(partition) and partition.leader_id != victim.id,
            "all led",
        )
        return _figure("a node killed, all led by the others", time.perf_counter() - struck, "s")

    def _led_by_node(self) -> Counter[int]:
        partitions = partitions_of(self.cluster.nodes[0].address, self.names)
        return Counter(partition.leader_id for partition in partitions)

    def _not_controllers(self) -> list[NodeProcess]:
        controller = active_controller(self.cluster.nodes[0].address)
        return [node for node in self.cluster.nodes if node.id != controller]

    def _wait(self, addresses: Sequence[str], condition: Condition, what: str) -> None:
        wait_partitions(
            addresses, self.names, condition, count=self.count, what=what, timeout_s=TIMEOUT_S
        )


def _figure(name: str, value: float, unit: str, bound: Bound = NO_BOUND) -> Figure:
    return Figure(name, value, unit, bound=bound.text(unit), holds=bound.holds(value, None))
