"""Metadata that Ottla wrote, in the eyes of Apache Kafka: its dump tool, and a broker."""

import json
import socket  # noqa: TID251 - Kafka's broker is a real process on a real port
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ottla.controller.controller import Controller
from ottla.controller.metadata_log import METADATA_PARTITION, MetadataLogConfig
from ottla.controller.metadata_log_loading import open_metadata_log
from ottla.controller.operations.alter_configs import incremental_alter_configs
from ottla.controller.operations.delete_topics import delete_topics
from ottla.controller.operations.heartbeat import heartbeat
from ottla.controller.snapshot_file import Snapshot, SnapshotId, read_snapshot
from ottla.metadata import MetadataDelta, MetadataImage, MetadataReplay
from ottla.model import uuid_to_text
from ottla.runtime.disk import Disk
from ottla.runtime.system_disk import SystemDisk
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest
from ottla.wire.messages.headers import RequestHeader, ResponseHeader
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.conformance.kafka.complaints import rightful
from tests.conformance.kafka.dump import Dump
from tests.conformance.kafka.judge import Judge
from tests.conformance.kafka.process import CLASSPATH, JAVA_OPTIONS
from tests.support.controller.simulated_controllers import DIRECTORY, World, create, serve_broker
from tests.support.kafka.kafka_fixtures import extract

KAFKAS_SNAPSHOT = "00000000000000000074-0000000001.checkpoint"
START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 30


def copy_directory(disk: Disk, path: str, into: Path) -> Path:
    """Brings a directory of a simulated disk onto a real one."""
    into.mkdir()
    for name in disk.list_directory(path):
        if disk.is_directory(f"{path}/{name}"):
            copy_directory(disk, f"{path}/{name}", into / name)
        else:
            file = disk.open_readonly(f"{path}/{name}")
            (into / name).write_bytes(file.read_at(0, file.size()))
            file.close()
    return into


async def some_history(controller: Controller) -> MetadataImage:
    epoch = await serve_broker(controller)
    for number in range(12):
        await create(controller, f"topic-{number}", partitions=3)
    await controller.submit(delete_topics, DeleteTopicsRequest(topic_names=["topic-3"]))
    change = AlterableConfig(name="min.insync.replicas", value="1")
    resource = AlterConfigsResource(resource_type=2, resource_name="topic-1", configs=[change])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    await controller.submit(incremental_alter_configs, request)
    for _ in range(2):
        await controller.submit(
            heartbeat,
            BrokerHeartbeatRequest(broker_id=1, broker_epoch=epoch, want_shut_down=True),
        )
    await controller.quorum.close()
    return controller.quorum.metadata.image


def dump(judge: Judge, *files: Path) -> Dump:
    dumped = judge.dump(files, "--cluster-metadata-decoder")
    assert rightful(dumped.problems, compacted=False) == []
    return dumped


def payloads(dumped: Dump) -> list[dict[str, Any]]:
    """Metadata records as Kafka shows them."""
    found = []
    for file in dumped.files:
        for record in file.records:
            _, marker, payload = record.rest.partition("payload: ")
            if marker:
                found.append(json.loads(payload))
    return found


@pytest.mark.java
def test_kafka_reads_the_log_that_we_write(judge: Judge, tmp_path: Path) -> None:
    world = World()
    image = world.run(some_history)
    directory = copy_directory(world.disk, DIRECTORY, tmp_path / "data")
    log = dump(judge, directory / str(METADATA_PARTITION) / f"{0:020d}.log")
    topics = {each["data"]["name"] for each in payloads(log) if each["type"] == "TOPIC_RECORD"}
    assert topics == {*image.topics.by_name, "topic-3"}
    # What restores a deleted topic is configs of a topic that does not exist.
    (deleted,) = image.deleted_topics
    configs = [each["data"] for each in payloads(log) if each["type"] == "CONFIG_RECORD"]
    assert deleted.name == "topic-3"
    assert deleted.resource_name in {each["resourceName"] for each in configs}
    assert "LeaderChange" in log.files[0].records[0].rest
    judge.assert_accepts(directory / str(METADATA_PARTITION))


@pytest.mark.java
def test_kafka_reads_the_snapshots_that_we_write(judge: Judge, tmp_path: Path) -> None:
    world = World(metadata_log_max_record_bytes_between_snapshots="3000")
    world.run(some_history)
    directory = copy_directory(world.disk, DIRECTORY, tmp_path / "data")
    snapshots = sorted((directory / str(METADATA_PARTITION)).glob("*.checkpoint"))
    assert len(snapshots) == 2
    for snapshot in (*snapshots, directory / "bootstrap.checkpoint"):
        file = dump(judge, snapshot).files[0]
        assert "SnapshotHeader" in file.records[0].rest
        assert "SnapshotFooter" in file.records[-1].rest
        assert [record.offset for record in file.records] == list(range(len(file.records)))
    names = {each["type"] for each in payloads(dump(judge, snapshots[-1]))}
    assert names >= {"FEATURE_LEVEL_RECORD", "REGISTER_BROKER_RECORD", "PARTITION_RECORD"}


@pytest.mark.java
def test_our_snapshot_of_kafkas_metadata_holds_kafkas_records(judge: Judge, tmp_path: Path) -> None:
    kafkas = extract("clean", tmp_path / "kafka") / str(METADATA_PARTITION) / KAFKAS_SNAPSHOT
    replay = MetadataReplay(MetadataImage())
    for batch in read_snapshot(SystemDisk(), str(kafkas)):
        if not batch.header.is_control:
            replay.take(batch.records, MetadataDelta())
    ours = tmp_path / KAFKAS_SNAPSHOT
    Snapshot(
        disk=SystemDisk(),
        path=str(ours),
        id=SnapshotId(74, 1),
        records=replay.image,
        metadata_version=replay.image.metadata_version,
        voters=None,
        last_contained_log_timestamp=0,
        now_ms=0,
    ).write()
    assert _sorted(payloads(dump(judge, ours))) == _sorted(payloads(dump(judge, kafkas)))


def _sorted(records: list[dict[str, Any]]) -> list[str]:
    """Kafka's order among equals is that of its hash tables."""
    return sorted(json.dumps(record, sort_keys=True) for record in records)


@pytest.mark.java
@pytest.mark.usefixtures("judge")
def test_kafka_runs_on_a_directory_that_we_wrote(tmp_path: Path) -> None:
    world = World(metadata_log_max_record_bytes_between_snapshots="2000")
    image = world.run(some_history)
    directory = copy_directory(world.disk, DIRECTORY, tmp_path / "data")
    with kafka_running(directory, tmp_path) as address:
        response = wait_topics(address)
    found = {topic.name: topic for topic in response.topics}
    assert set(found) == set(image.topics.by_name)
    for topic in image.topics:
        assert uuid_to_text(found[topic.name].topic_id) == uuid_to_text(topic.id)
        leaders = {each.partition_index: each.leader_id for each in found[topic.name].partitions}
        assert leaders == dict.fromkeys(range(3), 1)
    # And back: what Kafka made of it is ours again.
    log, committed, _ = open_metadata_log(
        SystemDisk(), str(directory), MetadataLogConfig(), now_ms=0
    )
    after = committed.replay_appended().image
    assert after.topics.by_name.keys() == image.topics.by_name.keys()
    # Kafka keeps what restores a deleted topic.
    assert len(image.deleted_topics) == 1
    assert after.deleted_topics == image.deleted_topics
    assert log.end.epoch > 1
    log.abandon()


@contextmanager
def kafka_running(directory: Path, scratch: Path) -> Iterator[tuple[str, int]]:
    """A Kafka broker over a data directory, until the block ends; its address."""
    broker_port, controller_port = free_port(), free_port()
    properties = scratch / "server.properties"
    listeners = f"PLAINTEXT://127.0.0.1:{broker_port},CONTROLLER://127.0.0.1:{controller_port}"
    configs = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": listeners,
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller_port}",
        "log.dirs": str(directory),
    }
    properties.write_text("".join(f"{name}={value}\n" for name, value in configs.items()))
    process = subprocess.Popen(
        ["java", *JAVA_OPTIONS, "-cp", CLASSPATH, "kafka.Kafka", properties],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield "127.0.0.1", broker_port
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def wait_topics(address: tuple[str, int]) -> MetadataResponse:
    """Asks until every partition has a leader: a broker that just began knows some or none."""
    deadline = time.monotonic() + START_TIMEOUT_S  # noqa: TID251 - a real process is waited for
    while time.monotonic() < deadline:  # noqa: TID251
        try:
            response = fetch_metadata(address)
        except OSError:
            time.sleep(0.1)
            continue
        partitions = [each for topic in response.topics for each in topic.partitions]
        if partitions and all(each.leader_id >= 0 for each in partitions):
            return response
        time.sleep(0.1)
    raise AssertionError("Kafka did not come up with our topics")


def fetch_metadata(address: tuple[str, int]) -> MetadataResponse:
    version = 12
    header = RequestHeader(
        request_api_key=3, request_api_version=version, correlation_id=1, client_id="test"
    )
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    frame = header.encode(2) + request.encode(version)
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(len(frame).to_bytes(4) + frame)
        with connection.makefile("rb") as answers:
            size = int.from_bytes(answers.read(4))
            answer = answers.read(size)
    _, position = ResponseHeader.decode_from(answer, 1)
    return MetadataResponse.decode_from(answer, version, position)[0]
