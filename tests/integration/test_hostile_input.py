"""A node under a mixture of every attack, while a client that behaves is served as ever.

`make test` runs it for some seconds, `make soak` for half an hour with two million frames.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ottla.model.internal_topics import is_internal_topic
from ottla.wire.messages.api_versions import ApiVersionsRequest
from tests.hostile.frames import request_classes
from tests.support.nodes.node_process import NodeProcess
from tests.support.nodes.steady_client import SteadyClient
from tests.support.nodes.wire_connection import WireConnection
from tests.support.soak import IS_SOAK, at_scale

FRAMES: Final = at_scale(quick=3_000, soak=2_000_000)
SECONDS: Final = at_scale(quick=3, soak=1_800)
# A warm-up compiles the codecs of every API and version, and fills caches of bounded size.
WARM_UP_FRAMES: Final = at_scale(quick=3_000, soak=50_000)
WARM_UP_SECONDS: Final = at_scale(quick=3, soak=60)
# A soak runs alone; other tests run beside the short form.
STEADY_P99_SECONDS_MAX: Final = 0.05 if IS_SOAK else 2.0
MEMORY_GROWTH_MAX: Final = 0.2
# Where every object was compiled and cached only seconds ago, the heap is not yet at its size.
SHORT_RUN_GROWTH_BYTES_MAX: Final = 0 if IS_SOAK else 32 << 20
MEMORY_SETTLES_SECONDS_MAX: Final = 10.0
LOG_BYTES_MAX: Final = at_scale(quick=2, soak=20) << 20


def attack(node: NodeProcess, *, frames: int, seconds: int, seed: int) -> dict[str, int]:
    """How often each attack was made, by a process of its own."""
    chosen = (f"--frames={frames}", f"--seconds={seconds}", f"--seed={seed}")
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile", str(node.port), *chosen],
        capture_output=True,
        text=True,
        timeout=3 * seconds + 120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made: dict[str, int] = json.loads(done.stdout)
    return made


def assert_every_api_is_attacked(node: NodeProcess) -> None:
    with WireConnection(node.address) as connection:
        answer = connection.send_request(ApiVersionsRequest(), 0)
    assert {api.api_key for api in answer.api_keys} <= {cls.api_key for cls in request_classes()}


def seconds_until_resident(node: NodeProcess, bytes_max: float) -> float:
    """How long the node needs to get below the limit, at most the time that it is given."""
    started = time.perf_counter()
    while (waited := time.perf_counter() - started) < MEMORY_SETTLES_SECONDS_MAX:
        if node.resident_bytes <= bytes_max:
            break
        time.sleep(0.1)
    return waited


def topics_of(node: NodeProcess) -> set[str]:
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    return set(admin.list_topics(timeout=30).topics)


def delete_topics(node: NodeProcess, names: set[str]) -> None:
    """Deletes what the attack has created: a topic is the state of a valid request, and stays.
    Internal topics cannot be deleted."""
    names = {name for name in names if not is_internal_topic(name)}
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    for name, deleted in admin.delete_topics(sorted(names)).items() if names else ():
        assert deleted.exception(timeout=60) is None, name


def create_internal_topics(node: NodeProcess) -> None:
    """By a transaction and a commit, so that they belong to the memory before the attack."""
    topic = "before"
    producer = Producer({"bootstrap.servers": node.bootstrap, "transactional.id": topic})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, b"first")
    producer.commit_transaction(60)
    consumer = Consumer({"bootstrap.servers": node.bootstrap, "group.id": topic})
    consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    consumer.close()


def test_steady_client_is_served_and_memory_returns_whatever_others_send(tmp_path: Path) -> None:
    with NodeProcess(tmp_path) as node:
        assert_every_api_is_attacked(node)
        create_internal_topics(node)
        attack(node, frames=WARM_UP_FRAMES, seconds=WARM_UP_SECONDS, seed=1)
        kept = topics_of(node)
        before, files_before = node.resident_bytes, node.open_files
        node.forget_peak()
        with SteadyClient(node.address) as steady:
            made = attack(node, frames=FRAMES, seconds=SECONDS, seed=2)
        created = topics_of(node) - kept
        delete_topics(node, created)
        allowed = before * (1 + MEMORY_GROWTH_MAX) + SHORT_RUN_GROWTH_BYTES_MAX
        settled = seconds_until_resident(node, allowed)
        p99 = steady.percentile_seconds(99)
        print(f"attacks: {made}")
        print(
            f"steady client: {steady.rounds} rounds, p99 {p99 * 1000:.1f} ms, "
            f"slowest {steady.slowest_seconds * 1000:.0f} ms"
        )
        print(
            f"topics: {len(created)} created by mutated requests, and deleted\n"
            f"memory: {before >> 20} MB before, {node.resident_bytes_peak >> 20} MB at most, "
            f"{node.resident_bytes >> 20} MB {settled:.1f} s after; open files: {files_before} "
            f"before, {node.open_files} after; log: {len(node.stderr)} bytes"
        )
        assert made["frames"] >= FRAMES
        assert p99 < STEADY_P99_SECONDS_MAX
        assert settled < MEMORY_SETTLES_SECONDS_MAX
        assert len(node.stderr) < LOG_BYTES_MAX
        node.assert_no_traceback()
