"""All replicas hold the same bytes: by Kafka's own verification while the nodes run, and file by
file when they have stopped."""

from __future__ import annotations

import json
import re
import subprocess
import threading

import pytest

from tests.conformance.clients import EARLIEST
from tests.conformance.java_tools.cluster import ClusterTools, Described
from tests.conformance.kafka.process import CLASSPATH, JAVA_OPTIONS

pytestmark = pytest.mark.java

RECORDS = 3_000
VERIFICATION_SECONDS_MAX = 60.0


def test_replicas_are_equal_byte_by_byte(tools: ClusterTools) -> None:
    tools.create("verified", [[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    options = ("--topic", "verified", "--max-messages", str(RECORDS), "--acks", "-1")
    # Without keys they could all go to one partition.
    keys = ("--repeating-keys", "100")
    ran = tools.java.run_alone(
        tools.class_of("kafka-verifiable-producer"),
        *("--bootstrap-server", tools.bootstrap(2), *options, *keys),
    )
    summary = json.loads(ran.stdout.splitlines()[-1])
    assert (summary["sent"], summary["acked"]) == (RECORDS, RECORDS), ran.stderr
    verify_while_running(tools, "verified", partitions=3)

    tools.wait_in_sync()
    partitions = tools.describe()
    cluster = tools.cluster
    cluster.stop()
    try:
        compare_files(tools, partitions)
        assert dumps_agree(tools, [each for each in partitions if each.topic == "verified"])
    finally:
        cluster.start(cluster.brokers)
    tools.wait_in_sync()


def verify_while_running(tools: ClusterTools, topic: str, *, partitions: int) -> None:
    """By kafka-replica-verification, which compares checksums up to the high watermark. It goes on
    for ever, so it is ended when nothing is left to compare."""
    where = ("--broker-list", tools.bootstrap(1), "--topics-include", topic)
    options = ("--time", str(EARLIEST), "--report-interval-ms", "200")
    tool = tools.class_of("kafka-replica-verification")
    process = subprocess.Popen(
        ["java", *JAVA_OPTIONS, "-cp", CLASSPATH, tool, *where, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watchdog = threading.Timer(VERIFICATION_SECONDS_MAX, process.kill)
    watchdog.start()
    output = ""
    try:
        assert process.stdout is not None
        for line in process.stdout:
            output += line
            if re.search(rf"max lag is 0 .* at offset [1-9]\d* among {partitions} part", line):
                break
        else:
            raise AssertionError(f"it found no end: {output}")
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()
    assert "match" not in output, output


def compare_files(tools: ClusterTools, partitions: list[Described]) -> None:
    compared = 0
    for each in partitions:
        name = f"{each.topic}-{each.partition}"
        logs = {
            replica: b"".join(
                segment.read_bytes()
                for segment in sorted((tools.cluster.nodes[replica].data / name).glob("*.log"))
            )
            for replica in each.replicas
        }
        assert len(set(logs.values())) == 1, f"the replicas of {name} differ"
        compared += len(logs[each.replicas[0]])
    assert compared > RECORDS


def dumps_agree(tools: ClusterTools, partitions: list[Described]) -> bool:
    """Whether Kafka's own tool sees the same sound batches on every node."""

    def dumped(node_id: int) -> str:
        home = tools.cluster.nodes[node_id].data
        files = [
            str(segment)
            for each in partitions
            for segment in sorted((home / f"{each.topic}-{each.partition}").glob("*.log"))
        ]
        options = ("--deep-iteration", "--files", ",".join(files))
        ran = tools.java.run(tools.class_of("kafka-dump-log"), *options)
        assert ran.status == 0, ran.stderr
        assert ran.stdout.count("| offset: ") == RECORDS
        assert "isvalid: false" not in ran.stdout
        return ran.stdout.replace(str(home), "")

    return len({dumped(node.id) for node in tools.cluster.brokers}) == 1
