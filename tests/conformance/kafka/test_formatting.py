"""`ottla format` beside `kafka-storage format`: the same files, with the same in them."""

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ottla.cli.main import make_app
from ottla.configs.java_properties import format_properties
from ottla.controller.snapshot_file import read_snapshot
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.wire.schema import Message
from ottla.wire.stored.quorum import SnapshotHeaderRecord
from tests.conformance.kafka.judge import Judge
from tests.conformance.kafka.process import CLASSPATH, JAVA_OPTIONS

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
CONTROLLERS = "1@h1:9093:JEXY6aqzQY-32P5TStzaFg,2@h2:9093:MvDxzVmcRsaTz33bUuRU6A"
DYNAMIC = {"controller.quorum.bootstrap.servers": "h1:9093"}
STATIC = {"controller.quorum.voters": "1@h1:9093,2@h2:9093"}


def write_properties(folder: Path, quorum: dict[str, str]) -> Path:
    folder.mkdir()
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(folder / "data"),
    }
    file = folder / "server.properties"
    file.write_text(format_properties(properties | quorum))
    return file


def format_with_kafka(file: Path, options: list[str]) -> None:
    command = ["java", *JAVA_OPTIONS, "-cp", CLASSPATH, "kafka.tools.StorageTool", "format"]
    subprocess.run(
        [*command, "-t", CLUSTER_ID, "-c", file, *options], check=True, capture_output=True
    )


def format_with_ottla(file: Path, options: list[str]) -> None:
    arguments = ["format", "-t", CLUSTER_ID, "--config", str(file), *options]
    result = CliRunner().invoke(make_app("format"), arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output


def checkpoints(directory: Path) -> dict[str, list[Message]]:
    """What is in each, but for the time at which it was written."""
    found = {}
    for path in directory.rglob("*.checkpoint"):
        records = [
            record for batch in read_snapshot(SystemDisk(), str(path)) for record in batch.records
        ]
        for record in records:
            if isinstance(record, SnapshotHeaderRecord):
                record.last_contained_log_timestamp = 0
        found[str(path.relative_to(directory))] = records
    return found


@pytest.mark.parametrize(
    ("quorum", "options"),
    [
        (DYNAMIC, ["--initial-controllers", CONTROLLERS]),
        (DYNAMIC, ["--no-initial-controllers"]),
        (STATIC, []),
    ],
)
def test_both_tools_leave_the_same(
    judge: Judge, tmp_path: Path, quorum: dict[str, str], options: list[str]
) -> None:
    kafkas, ours = (write_properties(tmp_path / name, quorum) for name in ("kafka", "ottla"))
    format_with_kafka(kafkas, options)
    format_with_ottla(ours, options)
    assert checkpoints(kafkas.parent / "data") == checkpoints(ours.parent / "data")
    identities = [
        read_meta_properties(SystemDisk(), str(file.parent / "data")) for file in (kafkas, ours)
    ]
    first, second = (identity for identity in identities if identity is not None)
    if "--initial-controllers" in options:
        assert first == second
    assert first._replace(directory_id=None) == second._replace(directory_id=None)
