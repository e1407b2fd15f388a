"""What `ottla start` says and answers when its node cannot start, or cannot go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ottla.broker.host_seams import HostSeams
from ottla.cli.start import run as start_run
from ottla.configs import NodeConfig
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.network import Address


class Broker:
    cluster = SimpleNamespace(cluster_id="cluster")
    partitions = ()


class FailingNode:
    """Fails to start, or as soon as it has."""

    def __init__(
        self, config: NodeConfig, world: HostSeams, *, on_failed: Callable[[], None]
    ) -> None:
        self.config = config
        self.broker = Broker()
        self.addresses = {"PLAINTEXT": Address("127.0.0.1", 9092)}
        self.failure: OSError | None = None
        self.is_stopped = False
        self._on_failed = on_failed

    async def start(self) -> None:
        if self.config.node_id == 7:
            raise KafkaError(ErrorCode.INVALID_REGISTRATION, "the controller takes no node 7")
        self.failure = OSError(5, "Input/output error")
        self._on_failed()

    async def stop(self) -> None:
        self.is_stopped = True


def run(tmp_path: Path, *settings: str, config: Path | None = None) -> int:
    return start_run.run_node(
        data_dir=tmp_path,
        listen="127.0.0.1:0",
        advertise=None,
        metrics=None,
        config=config,
        settings=list(settings),
        verbose=False,
    )


@pytest.fixture(autouse=True)
def _failing_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_run, "Node", FailingNode)


def test_a_node_that_is_refused_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "node.id=7") == 1

    said = capsys.readouterr().err
    assert "Cannot start: the controller takes no node 7" in said
    assert "Traceback" not in said


def test_a_node_whose_metadata_failed_ends_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 1

    said = capsys.readouterr().err
    assert "Stopped: its metadata log has failed ([Errno 5] Input/output error)" in said
    assert "Traceback" not in said


def test_an_unknown_setting_on_the_command_line_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "num.partitons=3") == 2

    said = capsys.readouterr().err
    assert "Wrong configuration: --set num.partitons: " in said
    assert "did you mean num.partitions?" in said


def test_an_unknown_setting_in_a_file_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitons=3\nnode.id=7\n")
    assert run(tmp_path, config=file) == 1

    said = capsys.readouterr().err
    assert "Ignored: num.partitons is not a broker config of Kafka; did you mean num.part" in said
    assert "Cannot start: the controller takes no node 7" in said


@pytest.mark.parametrize("setting", ["ssl.provider=BCFIPS", "listeners=SSL://:9092"])
def test_a_setting_that_promises_security_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    assert run(tmp_path, setting) == 2

    said = capsys.readouterr().err
    assert f"Wrong configuration: {setting.partition('=')[0]}" in said


def test_settings_without_effect_are_named_in_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert run(tmp_path, "node.id=7", "num.io.threads=2", "listener.name.a.max.connections=5") == 1

    [said] = [record.message for record in caplog.records if "without effect" in record.message]
    assert said.endswith(": listener.name.a.max.connections, num.io.threads")


@pytest.mark.parametrize(
    ("text", "mode", "is_warned"),
    [
        ("delegation.token.secret.key=s\n", 0o644, True),
        ("listener.name.x.ssl.key.password=s\n", 0o620, True),
        ("sasl.jaas.config=s\n", 0o600, False),
        ("num.partitions=3\n", 0o644, False),
    ],
)
def test_a_file_with_secrets_that_others_can_read_is_warned_about(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, mode: int, is_warned: bool
) -> None:
    file = tmp_path / "server.properties"
    file.write_text(text)
    file.chmod(mode)
    run(tmp_path, "node.id=7", config=file)
    warnings = [each.getMessage() for each in caplog.records if "chmod 600" in each.getMessage()]
    assert bool(warnings) == is_warned
    for warning in warnings:
        assert f"the secrets in {file}; run: chmod 600 {file}" in warning
