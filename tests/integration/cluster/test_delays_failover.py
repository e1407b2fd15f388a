"""Leaders are killed while records become due: each is delivered once, in order, never early."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, Producer, TopicPartition

from ottla.runtime.system_clock import SystemClock
from tests.integration.cluster.cluster_view import create_topic, partitions, wait_in_sync
from tests.support.nodes.cluster_processes import ClusterProcesses, wait_until

CLOCK: Final = SystemClock()
TOPIC: Final = "later"
KEYS: Final = 7
RECORDS: Final = 6_000
SECONDS: Final = 9
KILLS: Final = 2
_PATIENCE_SECONDS: Final = 60.0


def _produce(cluster: ClusterProcesses, first_ms: int) -> None:
    producer = Producer(
        {**cluster.client, "enable.idempotence": True, "linger.ms": 5, "log_level": 0}
    )
    failed: list[object] = []

    def delivered(error: object, _message: object) -> None:
        if error is not None:
            failed.append(error)

    for number in range(RECORDS):
        due_ms = first_ms + number * SECONDS * 1_000 // RECORDS
        producer.produce(
            TOPIC,
            b"%d" % number,
            b"key-%d" % (number % KEYS),
            partition=0,
            headers=[("ottla-deliver-at", str(due_ms))],
            on_delivery=delivered,
        )
    assert producer.flush(_PATIENCE_SECONDS) == 0
    assert failed == []


def _leader(cluster: ClusterProcesses) -> int:
    views = partitions(cluster, cluster.running_brokers[0], TOPIC)
    return views[0].leader if views else -1


def test_each_record_is_delivered_once_although_leaders_are_killed(tmp_path: Path) -> None:
    with ClusterProcesses(tmp_path, {}) as cluster:
        create_topic(cluster, TOPIC, [(1, 2, 3)], {"ottla.delivery.delay.enable": "true"})
        first_ms = CLOCK.now_ms() + 3_000
        _produce(cluster, first_ms)
        consumer = Consumer(
            {**cluster.client, "group.id": "later", "enable.auto.commit": False, "log_level": 0}
        )
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        found: list[int] = []
        by_key: dict[bytes, list[int]] = defaultdict(list)
        kills_at = [RECORDS // 4 + at * RECORDS // 3 for at in range(KILLS)]
        ends_at = CLOCK.monotonic() + _PATIENCE_SECONDS
        while len(found) < RECORDS and CLOCK.monotonic() < ends_at:
            for message in consumer.consume(500, 0.1):
                assert message.error() is None
                due_ms = int(dict(message.headers() or ())["ottla-deliver-at"] or b"")
                assert CLOCK.now_ms() >= due_ms, "delivered early"
                number = int(message.value() or b"")
                found.append(number)
                by_key[message.key() or b""].append(number)
            if kills_at and len(found) >= kills_at[0]:
                del kills_at[0]
                _kill_leader(cluster)
        consumer.close()

        assert len(found) == RECORDS
        assert sorted(found) == list(range(RECORDS))
        assert all(numbers == sorted(numbers) for numbers in by_key.values())
        assert not kills_at
        cluster.assert_no_traceback()


def _kill_leader(cluster: ClusterProcesses) -> None:
    """Kills it, waits for the next one, and starts it again."""
    wait_until(lambda: _leader(cluster) > 0, "a leader")
    leader = _leader(cluster)
    killed = next(node for node in cluster.running_brokers if node.id == leader)
    killed.kill()
    wait_until(lambda: _leader(cluster) not in (-1, leader), "another leader")
    cluster.start([killed])
    wait_in_sync(cluster, TOPIC)
