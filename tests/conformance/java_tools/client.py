"""Apache Kafka's own clients and command line tools, many of them in one Java process."""

from __future__ import annotations

import subprocess
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.clients import (
    LONG_WAIT_MS,
    TIMEOUT_S,
    Message,
    Position,
    Received,
    RefusedError,
    assert_complete,
)
from tests.conformance.kafka.process import CLASSPATH, JAVA_OPTIONS, JudgeProcess

HERE = Path(__file__).resolve().parent


class Ran(NamedTuple):
    """How a tool ended, and what it printed."""

    status: int
    stdout: str
    stderr: str


class Java:
    """The process, started by the first question and ended by `close`."""

    def __init__(self) -> None:
        self._process = JudgeProcess(HERE, "Driver")
        self.send_command = self._process.send_command
        self.close = self._process.close

    def run(self, tool: str, *arguments: str, stdin: str = "") -> Ran:
        """Runs a tool's `main`, and what it would do at the end of its process."""
        return Ran(**self.send_command("run", tool=tool, arguments=arguments, stdin=stdin))

    def run_alone(self, tool: str, *arguments: str) -> Ran:
        """Runs a tool in a process of its own: one that has more to say when the process ends."""
        ran = subprocess.run(
            ["java", *JAVA_OPTIONS, "-cp", CLASSPATH, tool, *arguments],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)


class JavaClient:
    name = "java"
    sets_timestamps = True

    def __init__(self, java: Java, bootstrap: str) -> None:
        self.java = java
        self.bootstrap = bootstrap

    def can_send(self, message: Message) -> bool:
        return True

    def produce(
        self,
        topic: str,
        messages: Sequence[Message],
        *,
        codec: str = "none",
        acks: str = "all",
        is_idempotent: bool = False,
        request_bytes_max: int = 1_000_000,
    ) -> list[Position]:
        results = self.java.send_command(
            "produce",
            topic=topic,
            messages=[_message(message) for message in messages],
            configs=self._configs(
                compression_type=codec,
                acks=acks,
                enable_idempotence=is_idempotent,
                max_request_size=request_bytes_max,
            ),
        )
        return [_position(result) for result in results]

    def consume(
        self,
        starts: Mapping[tuple[str, int], int],
        count: int,
        *,
        read_committed: bool = False,
        fetch_bytes_max: int = 1_000_000,
    ) -> list[Received]:
        records = self.java.send_command(
            "consume",
            partitions=[(*name, offset) for name, offset in starts.items()],
            count=count,
            timeout_ms=TIMEOUT_S * 1_000,
            configs=self._configs(
                isolation_level="read_committed" if read_committed else "read_uncommitted",
                max_partition_fetch_bytes=fetch_bytes_max,
                # To close, it waits for the fetch that it has sent.
                fetch_max_wait_ms=20,
            ),
        )
        assert_complete(records, count)
        return [_received(record) for record in records]

    def offset_for(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        found: int | None = self.java.send_command(
            "offsets",
            topic=topic,
            partition=partition,
            timestamp_ms=timestamp_ms,
            configs=self._configs(),
        )
        return found

    def latencies_ms(self, topic: str, count: int) -> list[float]:
        latencies: list[float] = self.java.send_command(
            "latencies",
            partitions=[(topic, 0, 0)],
            count=count,
            configs=self._configs(fetch_max_wait_ms=LONG_WAIT_MS),
        )
        return latencies

    def _configs(self, **configs: Any) -> dict[str, str]:
        named = {name.replace("_", "."): str(value).lower() for name, value in configs.items()}
        return {"bootstrap.servers": self.bootstrap, **named}


def _message(message: Message) -> dict[str, Any]:
    return {
        "key": _base64(message.key),
        "value": _base64(message.value),
        "headers": [(name, _base64(value)) for name, value in message.headers],
        "partition": message.partition,
        "timestamp_ms": message.timestamp_ms,
    }


def _position(result: Mapping[str, Any]) -> Position:
    if "error_code" in result:
        raise RefusedError(result["error_code"], result["error"])
    return Position(result["partition"], result["offset"])


def _received(record: Mapping[str, Any]) -> Received:
    return Received(
        topic=record["topic"],
        partition=record["partition"],
        offset=record["offset"],
        timestamp_ms=record["timestamp_ms"],
        timestamp_type=record["timestamp_type"],
        key=_bytes(record["key"]),
        value=_bytes(record["value"]),
        headers=tuple((name, _bytes(value)) for name, value in record["headers"]),
    )


def _base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _bytes(base64: str | None) -> bytes | None:
    return None if base64 is None else b64decode(base64)
