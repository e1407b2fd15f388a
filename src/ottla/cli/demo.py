"""`make demo`: a node serves a Kafka client, is killed in the middle of it, and loses nothing.

What it shows is what it checks: everything that was acknowledged is there, once and in order.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ottla.runtime.clock import Clock
from ottla.runtime.system_clock import SystemClock

TOPIC = "clicks"
RECORDS = 200_000
KILLED_AT = RECORDS // 2
WAIT_SECONDS = 30
PURPOSES = {
    ".log": "record batches, as the client sent them",
    ".index": "offset to position",
    ".timeindex": "timestamp to offset",
    ".snapshot": "the producers' sequence numbers",
    ".metadata": "the topic's id",
    "": "where each leader's time began",
}


def main() -> int:
    console = Console(highlight=False)
    console.print("[bold]Ottla[/]: any Kafka client works against it. Here is librdkafka.\n")
    clock = SystemClock()
    with tempfile.TemporaryDirectory(prefix="ottla-demo-") as directory:
        with _node(directory, port=0) as (node, bootstrap, ready):
            console.print(f"[bold]1.[/] A node starts: [dim]{ready}[/]")
            producer = _Sender(bootstrap)
            _send(console, producer, range(KILLED_AT), "2. 1 KB records, idempotent, acks=all")
            node.kill()
            node.wait()
        console.print(
            f"[bold]3.[/] The node is killed (SIGKILL): {producer.acknowledged:,} records are "
            f"acknowledged, {producer.unanswered:,} on their way."
        )
        with _node(directory, port=int(bootstrap.rpartition(":")[2])) as (_, bootstrap, ready):
            console.print(f"[bold]4.[/] Started again: [dim]{ready}[/]")
            _send(console, producer, range(KILLED_AT, RECORDS), "5. The client goes on")
            producer.finish()
            started = clock.monotonic()
            found = _read_all(bootstrap)
            seconds = clock.monotonic() - started
        assert found == list(range(RECORDS)), "records are missing, doubled or out of order"
        console.print(
            f"[bold]6.[/] {len(found):,} records read back in {seconds:.1f} s: each once and in "
            "order.\n"
        )
        console.print(_files(directory))
    console.print(
        "\nStart one yourself:  [bold].venv/bin/ottla start --data-dir ./data[/]\n"
        "and look around:     [bold].venv/bin/ottla --help[/]"
    )
    return 0


class _Sender:
    """An idempotent producer that counts what was acknowledged."""

    def __init__(self, bootstrap: str) -> None:
        self.acknowledged = 0
        self.sent = 0
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 5,
                "queue.buffering.max.messages": 20_000,
                "log_level": 0,
            }
        )

    @property
    def unanswered(self) -> int:
        return self.sent - self.acknowledged

    def send(self, number: int) -> None:
        while True:
            try:
                self._producer.produce(
                    TOPIC, b"%01000d" % number, partition=0, on_delivery=self._delivered
                )
            except BufferError:
                self._producer.poll(0.1)
            else:
                break
        self.sent += 1
        self._producer.poll(0)

    def finish(self) -> None:
        left = self._producer.flush(WAIT_SECONDS)
        assert left == 0, f"{left} records were not acknowledged"
        assert self.acknowledged == self.sent

    def _delivered(self, error: KafkaError | None, _message: Message) -> None:
        assert error is None, error
        self.acknowledged += 1


@contextmanager
def _node(directory: str, *, port: int) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A node in a process of its own, its address, and what it said when it was ready."""
    command = [sys.executable, "-m", "ottla.cli.main", "start"]
    options = ["--data-dir", directory, "--listen", f"127.0.0.1:{port}"]
    process = subprocess.Popen(  # noqa: S603 - ourselves
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        ready = process.stdout.readline().strip()
        assert ready.startswith("Ready on "), f"the node did not start: {ready!r}"
        yield process, ready.split()[2], ready
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def _send(console: Console, producer: _Sender, numbers: range, what: str) -> None:
    clock: Clock = SystemClock()
    started = clock.monotonic()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(what, total=len(numbers))
        for number in numbers:
            producer.send(number)
            if number % 1_000 == 0:
                progress.update(task, completed=number - numbers.start)
    rate = len(numbers) / (clock.monotonic() - started)
    step, _, rest = what.partition(" ")
    console.print(f"[bold]{step}[/] {rest}: {len(numbers):,} sent, {rate:,.0f} a second.")


def _read_all(bootstrap: str) -> list[int]:
    """The number that each record carries, in the order of the log."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "demo", "enable.auto.commit": False}
    )
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    _, end = consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=WAIT_SECONDS)
    numbers: list[int] = []
    while len(numbers) < end:
        messages = consumer.consume(10_000, timeout=WAIT_SECONDS)
        assert messages, f"only {len(numbers)} of {end} records came"
        numbers += (int(message.value() or b"") for message in messages)
    consumer.close()
    return numbers


def _files(directory: str) -> Table:
    table = Table(box=None, padding=(0, 2), title="Kafka's own files, to the byte")
    table.add_column("file", style="cyan")
    table.add_column("bytes", justify="right")
    table.add_column("holds")
    for path in sorted(Path(directory, f"{TOPIC}-0").iterdir()):
        table.add_row(path.name, f"{path.stat().st_size:,}", PURPOSES.get(path.suffix, ""))
    return table


if __name__ == "__main__":
    sys.exit(main())
