"""`make demo`: a log is written, its process killed, its last write torn; then it is opened again.

What it shows is what it checks: everything that was acknowledged is there, once and in order, and a
retry of the last batch is recognised.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ottla.model import Offset, ProducerEpoch, ProducerId, TimestampMs, TopicPartition, Uuid
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.log_store import LogStore
from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.builder import build_batch
from ottla.wire.records.record import Record, iterate_records

PARTITION = TopicPartition("clicks", 0)
TOPIC_ID = Uuid(b"ottla-demo-topic")
CONFIG = LogConfig(segment_bytes=3 << 20)
BATCHES_BEFORE_KILL = 1_500
BATCHES_PER_FLUSH = 500
RECORDS_PER_BATCH = 100
READ_BYTES = 1 << 20
PURPOSES = {
    ".log": "record batches, as the producer sent them",
    ".index": "offset to position, an entry every 4 KB",
    ".timeindex": "timestamp to offset",
    ".snapshot": "the producers' sequence numbers at that offset",
    ".metadata": "the topic's id",
    "": "where each leader's time began",
}


def main() -> int:
    console = Console(highlight=False)
    console.print("[bold]Ottla[/]: a commit log in Kafka's own files. One partition, one crash.")
    with tempfile.TemporaryDirectory(prefix="ottla-demo-") as directory:
        acknowledged = _write_until_killed(directory)
        console.print(
            f"\n[bold]1.[/] A process wrote records {0:,} to {acknowledged:,} of {PARTITION} "
            "and was killed in the middle of it (SIGKILL)."
        )
        console.print("\n[bold]2.[/] What it left:")
        console.print(_files(directory))
        torn = _tear(directory)
        console.print(f"\n[bold]3.[/] Its last write is torn, too: {torn} bytes of a batch.")
        return _recover(console, directory, acknowledged)


def write_forever(directory: str) -> None:
    """Appends as an idempotent producer would, and says each offset that was acknowledged."""
    clock = SystemClock()
    store = LogStore(SystemDisk(), [directory])
    store.load(lambda _: CONFIG, now_ms=clock.now_ms())
    log = store.create_log(PARTITION, TOPIC_ID, CONFIG, now_ms=clock.now_ms())
    number = 0
    while True:
        now_ms = clock.now_ms()
        result = log.append_as_leader(_batch(number, now_ms), leader_epoch=0, now_ms=now_ms)
        number += 1
        if number % BATCHES_PER_FLUSH == 0:
            log.flush()
            store.directories[0].write_checkpoints()
        print(result.last_offset, flush=True)


def _write_until_killed(directory: str) -> int:
    """Runs the writer in a process of its own, and returns the last offset it acknowledged."""
    command = [sys.executable, "-m", "ottla.cli.demo", directory]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ourselves
    assert writer.stdout is not None
    acknowledged = -1
    for _ in range(BATCHES_BEFORE_KILL):
        acknowledged = int(writer.stdout.readline())
    writer.kill()
    # What it said before it died counts as acknowledged as well; a half-said number does not.
    for line in writer.stdout:
        acknowledged = int(line) if line.endswith("\n") else acknowledged
    writer.stdout.close()
    writer.wait()
    return acknowledged


def _tear(directory: str) -> int:
    """Puts the beginning of a batch behind the last one, as a crash in a write would."""
    last = max(Path(directory, str(PARTITION)).glob("*.log"))
    half = _batch(10**6, 0)[:3_333]
    with last.open("ab") as file:
        file.write(half)
    return len(half)


def _recover(console: Console, directory: str, acknowledged: int) -> int:
    clock = SystemClock()
    started = clock.monotonic()
    store = LogStore(SystemDisk(), [directory])
    store.load(lambda _: CONFIG, now_ms=clock.now_ms())
    took_ms = (clock.monotonic() - started) * 1_000
    log = store.get(PARTITION)
    assert log is not None, "the partition is gone"
    console.print(
        f"\n[bold]4.[/] Opened again in {took_ms:.0f} ms: the tear is cut off, the log ends at "
        f"{log.log_end_offset:,}."
    )
    found = _read_all(log)
    assert found == list(range(log.log_end_offset)), "records are missing, doubled or out of order"
    console.print(
        f"   {len(found):,} records read back, each once and in order; "
        f"{acknowledged + 1:,} were acknowledged."
    )
    if len(found) <= acknowledged:
        console.print("[bold red]   Acknowledged records are lost: this is a bug.[/]")
        return 1
    last = log.log_end_offset // RECORDS_PER_BATCH - 1
    retry = log.append_as_leader(_batch(last, 0), leader_epoch=0, now_ms=clock.now_ms())
    assert retry.is_duplicate, "the retry was written a second time"
    console.print(
        f"   The producer sends its last batch again: recognised, it is at {retry.first_offset:,}."
    )
    store.close(broker_epoch=1)
    console.print("\nLook into such files, Kafka's own too: [bold].venv/bin/ottla dump PATH[/]")
    return 0


def _read_all(log: Log) -> list[int]:
    """The number that each record carries, in the order of the log."""
    numbers: list[int] = []
    offset = 0
    while found := log.read(offset, bytes_max=READ_BYTES, upper_offset=log.log_end_offset):
        data = found.read()
        for position, header in iterate_batches(data):
            numbers += (int(record.value or b"") for record in iterate_records(data, position))
            offset = header.next_offset
    return numbers


def _batch(number: int, now_ms: int) -> bytearray:
    first = number * RECORDS_PER_BATCH
    return build_batch(
        [
            Record(
                Offset(delta),
                TimestampMs(now_ms),
                b"user-%d" % ((first + delta) % 97),
                b"%032d" % (first + delta),
            )
            for delta in range(RECORDS_PER_BATCH)
        ],
        producer_id=ProducerId(1),
        producer_epoch=ProducerEpoch(0),
        base_sequence=first,
    )


def _files(directory: str) -> Table:
    table = Table(box=None, padding=(0, 2))
    table.add_column("file", style="cyan")
    table.add_column("bytes", justify="right")
    table.add_column("holds")
    for path in sorted(Path(directory, str(PARTITION)).iterdir()):
        table.add_row(path.name, f"{path.stat().st_size:,}", PURPOSES.get(path.suffix, ""))
    return table


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write_forever(sys.argv[1])
    sys.exit(main())
