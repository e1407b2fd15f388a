"""kcat, in Debian's build: an older librdkafka on the command line."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from time import perf_counter

from ottla.model import ErrorCode
from tests.conformance.clients import (
    EARLIEST,
    LATEST,
    LONG_WAIT_MS,
    TIMEOUT_S,
    Headers,
    Message,
    Position,
    Received,
    RefusedError,
    assert_complete,
)

KEY_DELIMITER, DELIMITER = b"\x1f", b"\x1e"
# Everything but key and value, which follow as bytes of the lengths before them.
RECORD_FORMAT = "%t %p %o %T %K %S %h\\n%k%s\\n"
RECORD_LINE = re.compile(rb"(\S+) (\d+) (\d+) (-?\d+) (-?\d+) (-?\d+) (.*)\n")
DELIVERED = re.compile(r"% Message delivered to partition (\d+) \(offset (-?\d+)\)")
REFUSED = re.compile(r"% (?:Delivery failed for message|ERROR: .*): (Broker: .*)")
ERRORS = {
    "Broker: Message size too large": ErrorCode.MESSAGE_TOO_LARGE,
    "Broker: Broker failed to validate record": ErrorCode.INVALID_RECORD,
    "Broker: Unknown topic or partition": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}
# A longer value than this comes from a file.
INPUT_BYTES_MAX = 10_000


def reason_unavailable() -> str | None:
    if shutil.which("kcat") is None:
        return "no kcat on the PATH: install the package kcat"
    return None


def kcat(bootstrap: str, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["kcat", "-b", bootstrap, *arguments], input=stdin, capture_output=True, timeout=TIMEOUT_S
    )


class KcatClient:
    name = "kcat"
    sets_timestamps = False

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def can_send(self, message: Message) -> bool:
        # It takes empty for null in both key and value, or in none of them.
        texts = (message.key, message.value)
        return message.timestamp_ms is None and not (None in texts and b"" in texts)

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
        settings = {
            "acks": acks,
            "enable.idempotence": str(is_idempotent).lower(),
            "message.max.bytes": str(request_bytes_max),
            "topic.produce.offset.report": "true",
            "linger.ms": "0",
        }
        options = ["-P", "-vvv", "-t", topic, "-z", codec]
        for name, value in settings.items():
            options += ["-X", f"{name}={value}"]
        return [self._produce(message, options) for message in messages]

    def _produce(self, message: Message, options: Sequence[str]) -> Position:
        options = [*options]
        if message.partition is not None:
            options += ["-p", str(message.partition)]
        for name, value in message.headers:
            options += ["-H", name if value is None else f"{name}={value.decode()}"]
        value = message.value or b""
        if len(value) > INPUT_BYTES_MAX or DELIMITER in value:
            assert message.key is not None
            with tempfile.NamedTemporaryFile() as file:
                file.write(value)
                file.flush()
                ran = kcat(self.bootstrap, *options, "-k", message.key.decode(), file.name)
        else:
            if None in (message.key, message.value):
                options.append("-Z")
            options += ["-K", KEY_DELIMITER.decode(), "-D", DELIMITER.decode()]
            text = (message.key or b"") + KEY_DELIMITER + value + DELIMITER
            ran = kcat(self.bootstrap, *options, stdin=text)
        return _position(ran.stderr.decode())

    def consume(
        self,
        starts: Mapping[tuple[str, int], int],
        count: int,
        *,
        read_committed: bool = False,
        fetch_bytes_max: int = 1_000_000,
    ) -> list[Received]:
        settings = {
            "isolation.level": "read_committed" if read_committed else "read_uncommitted",
            "max.partition.fetch.bytes": str(fetch_bytes_max),
            # It waits that long to see that it is at the end.
            "fetch.wait.max.ms": "20",
        }
        options = ["-C", "-q", "-e", "-f", RECORD_FORMAT]
        for name, value in settings.items():
            options += ["-X", f"{name}={value}"]
        received: list[Received] = []
        for (topic, partition), offset in starts.items():
            start = {EARLIEST: "beginning", LATEST: "end"}.get(offset, str(offset))
            where = ["-t", topic, "-p", str(partition), "-o", start]
            ran = kcat(self.bootstrap, *options, *where)
            assert ran.returncode == 0, ran.stderr.decode()
            received += _received(ran.stdout)
        assert_complete(received, count)
        return received

    def offset_for(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        ran = kcat(self.bootstrap, "-Q", "-t", f"{topic}:{partition}:{timestamp_ms}")
        found = re.fullmatch(rf"{topic} \[{partition}\] offset (-?\d+)\n", ran.stdout.decode())
        assert found is not None, ran.stderr.decode()
        return None if int(found[1]) == LATEST else int(found[1])

    def latencies_ms(self, topic: str, count: int) -> list[float]:
        waiting = ["-C", "-q", "-u", "-t", topic, "-p", "0", "-o", "0"]
        waiting += ["-X", f"fetch.wait.max.ms={LONG_WAIT_MS}"]
        latencies = []
        command = ["kcat", "-b", self.bootstrap, *waiting]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as consumer:
            assert consumer.stdout is not None
            try:
                for _ in range(count):
                    started = perf_counter()
                    self.produce(topic, [Message(b"x", b"")])
                    assert consumer.stdout.readline() == b"x\n"
                    latencies.append((perf_counter() - started) * 1_000)
            finally:
                consumer.kill()
        return latencies


def _position(output: str) -> Position:
    if refused := REFUSED.search(output):
        raise RefusedError(ERRORS[refused[1]], refused[1])
    delivered = DELIVERED.search(output)
    assert delivered is not None, output
    return Position(int(delivered[1]), int(delivered[2]))


def _received(output: bytes) -> list[Received]:
    received = []
    position = 0
    while position < len(output):
        line = RECORD_LINE.match(output, position)
        assert line is not None, output[position:]
        topic, partition, offset, timestamp_ms, key_size, size, headers = line.groups()
        key, position = _sized(output, line.end(), int(key_size))
        value, position = _sized(output, position, int(size))
        received.append(
            Received(
                topic=topic.decode(),
                partition=int(partition),
                offset=int(offset),
                timestamp_ms=int(timestamp_ms),
                timestamp_type=None,
                key=key,
                value=value,
                headers=_headers(headers),
            )
        )
        position += len(b"\n")
    return received


def _sized(output: bytes, position: int, size: int) -> tuple[bytes | None, int]:
    if size < 0:
        return None, position
    return output[position : position + size], position + size


def _headers(text: bytes) -> Headers:
    pairs = [pair.split(b"=", 1) for pair in text.split(b",")] if text else []
    return tuple((name.decode(), None if value == b"NULL" else value) for name, value in pairs)
