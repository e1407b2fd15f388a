"""What `ottla start` refuses, as a process of its own."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from ottla.runtime.dice import SystemDice
from ottla.runtime.free_ports import free_ports
from tests.support.kafka.stock_properties import STOCK
from tests.support.nodes.nodes import OTTLA

WAIT_SECONDS = 60.0
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"


def refused_start(*arguments: str) -> str:
    """What the node says; a node that starts does not end and fails the test."""
    done = subprocess.run(
        [OTTLA, "start", *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=WAIT_SECONDS,
    )
    assert done.returncode != 0
    assert "Ready" not in done.stdout
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("properties", "named"),
    [
        ("listeners=SSL://127.0.0.1:0\nsecurity.inter.broker.protocol=SSL", "SSL"),
        (
            "listeners=SASL_SSL://127.0.0.1:0\nsecurity.inter.broker.protocol=SASL_SSL\n"
            "sasl.enabled.mechanisms=SCRAM-SHA-512\nssl.keystore.type=PEM\n"
            "ssl.keystore.location=/no/such/file",
            "SASL_SSL",
        ),
        ("authorizer.class.name=a.B\nsuper.users=User:admin", "authorizer.class.name"),
        ("super.users=User:admin", "super.users has no effect without an authorizer"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--listen", "127.0.0.1:0")], ids=str)
def test_a_secured_configuration_opens_no_unsecured_node(
    tmp_path: Path, properties: str, named: str, options: tuple[str, ...]
) -> None:
    file = tmp_path / "server.properties"
    file.write_text(properties)
    data = tmp_path / "data"
    said = refused_start("--config", str(file), "--data-dir", str(data), *options)
    assert named in said
    assert not data.exists()


def test_a_misspelled_setting_is_refused(tmp_path: Path) -> None:
    said = refused_start("--data-dir", str(tmp_path / "data"), "--set", "num.partitons=3")
    assert "did you mean num.partitions?" in said


def test_a_directory_of_photos_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").touch()
    said = refused_start("--data-dir", str(tmp_path), "--listen", "127.0.0.1:0")
    assert "holds files that are not Kafka's: photo.jpg. Choose an empty directory" in said
    assert [each.name for each in tmp_path.iterdir()] == ["photo.jpg"]


def test_kafkas_stock_properties_start(tmp_path: Path) -> None:
    client, controller = free_ports(SystemDice(), "localhost", count=2)
    stock = STOCK.replace("9092", str(client)).replace("9093", str(controller))
    file = tmp_path / "server.properties"
    file.write_text(stock.replace("/tmp/kraft-combined-logs", str(tmp_path / "logs")))
    subprocess.run(
        [OTTLA, "format", "--config", file, "--cluster-id", CLUSTER_ID, "--standalone"],
        check=True,
        timeout=WAIT_SECONDS,
    )
    node = subprocess.Popen(
        [OTTLA, "start", "--config", file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(WAIT_SECONDS, node.kill)
    watchdog.start()
    try:
        assert node.stdout is not None
        assert node.stdout.readline().startswith("Ready on ")
    finally:
        watchdog.cancel()
        node.terminate()
        _, said = node.communicate(timeout=WAIT_SECONDS)
    assert "Ignored" not in said
