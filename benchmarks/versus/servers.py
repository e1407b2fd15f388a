"""The two that are compared, each a process of its own over an empty directory, on loopback.

Apache Kafka runs as its own start script runs it: one gigabyte of heap, G1, and every setting at
its default but those that one node needs. Ottla runs at its defaults, which are Kafka's: neither
waits for the disk before it answers.
"""

from __future__ import annotations

import compileall
import contextlib
import importlib.util
import resource
import shutil
import socket  # noqa: TID251 - only to ask for a free port
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from benchmarks.versus.process_usage import cpu_seconds, resident_bytes
from benchmarks.versus.wire_client import WireError, wait_answered
from tests.conformance.kafka.process import CLASSPATH

START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 120.0
LOG_CHARS = 4_000
CLUSTER_ID = "ottlaOttlaOttlaOttlaOw"
# What kafka-server-start and kafka-run-class pass.
JAVA_OPTIONS = (
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true",
)
# Both get these. A deleted log leaves the disk soon: the next round shall not meet its writes.
COMMON_CONFIGS = {"log.segment.delete.delay.ms": "1000"}
KAFKA_CONFIGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}


class Server(ABC):
    """One node over a directory of its own, which `scratch` makes and removes.

    Not running until `start`; after `stop` it can be started again over the same data.
    """

    name: ClassVar[str]

    def __init__(self, scratch: Path, configs: Mapping[str, str]) -> None:
        self.scratch = scratch
        self.configs = {**COMMON_CONFIGS, **configs}
        self.address = f"127.0.0.1:{free_port()}"
        self._process: subprocess.Popen[bytes] | None = None
        self.prepare()

    @abstractmethod
    def prepare(self) -> None:
        """What has to be done once before the first start."""

    @abstractmethod
    def command(self) -> list[str]:
        """What runs it in the foreground."""

    @property
    def load_address(self) -> str:
        """The listener that clients send their loads to."""
        return self.address

    def client_listeners(self) -> str:
        """The value of `listeners`, without the controller's."""
        return f"PLAINTEXT://{self.address}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> float:
        """Starts it and returns the seconds until it answered Metadata for the first time."""
        assert self._process is None
        started = time.perf_counter()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, preexec_fn=raise_open_files
            )
        try:
            wait_answered(self.address, is_alive=self._is_alive, timeout_s=START_TIMEOUT_S)
        except WireError as error:
            self.stop()
            last_log = self._log.read_text(errors="replace")[-LOG_CHARS:]
            raise WireError(f"{self.name} did not start: {error}\n{last_log}") from error
        return time.perf_counter() - started

    def stop(self) -> None:
        """Ends it orderly, or by force where that takes too long."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    def resident_bytes(self) -> int:
        return resident_bytes(self.pid)

    def _is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def _log(self) -> Path:
        return self.scratch / "server.out"


class KafkaServer(Server):
    name = "Apache Kafka"

    def prepare(self) -> None:
        controller = f"127.0.0.1:{free_port()}"
        configs = {
            **self.configs,
            **KAFKA_CONFIGS,
            "log.dirs": str(self.scratch / "data"),
            "listeners": f"{self.client_listeners()},CONTROLLER://{controller}",
            "controller.quorum.bootstrap.servers": controller,
        }
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in configs.items()))
        tool = ("java", "-XX:TieredStopAtLevel=1", "-cp", CLASSPATH, "kafka.tools.StorageTool")
        identity = ("--standalone", "--cluster-id", CLUSTER_ID, "--config", str(self._properties))
        subprocess.run([*tool, "format", *identity], check=True, capture_output=True)

    def command(self) -> list[str]:
        return ["java", *JAVA_OPTIONS, "-cp", CLASSPATH, "kafka.Kafka", str(self._properties)]

    @property
    def _properties(self) -> Path:
        return self.scratch / "server.properties"


class OttlaServer(Server):
    name = "Ottla"

    def prepare(self) -> None:
        compile_sources()

    def command(self) -> list[str]:
        ottla = Path(sys.executable).with_name("ottla")
        listeners = f"--set=listeners={self.client_listeners()}"
        place = ("--data-dir", str(self.scratch / "data"), listeners)
        settings = [f"--set={name}={value}" for name, value in self.configs.items()]
        return [str(ottla), "start", *place, *settings]


@contextlib.contextmanager
def fresh(kind: type[Server], configs: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A server over an empty directory, not yet started; stopped and removed in the end. The
    configs are its own, beside those that all have."""
    scratch = Path(tempfile.mkdtemp(prefix="versus-"))
    try:
        server = kind(scratch, configs or {})
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(scratch)


def compile_sources() -> None:
    """As an installation does, and as a checkout that was edited lacks."""
    package = importlib.util.find_spec("ottla")
    assert package is not None
    assert package.submodule_search_locations is not None
    compileall.compile_dir(package.submodule_search_locations[0], quiet=1)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def raise_open_files() -> None:
    """As an administrator would for a broker of thousands of partitions."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
