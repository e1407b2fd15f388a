"""Runs `ottla consume --group`: reads as a member of a group and commits offsets.

Offsets are committed after their records are written to the output: if the command is killed in
between, the next run writes them again. Ctrl-C commits and leaves the group.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from ottla.cli.connection.cluster_client import ConnectedCluster, refused_by_client
from ottla.cli.connection.connection_watch import ConnectionWatch
from ottla.cli.consume.loop import read_until_done
from ottla.cli.consume.output import RecordOutput
from ottla.cli.consume.start_position import Anchor, StartPosition
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.clock import Clock

COMMIT_INTERVAL_S: Final = 1.0


class GroupRequest(NamedTuple):
    """What to read as a member. `offset_reset` applies to partitions without a committed offset."""

    topic: str
    group: str
    offset_reset: str
    follow: bool
    records_max: int | None


def offset_reset(start: StartPosition, partitions: Sequence[int] | None) -> str:
    """The value of `auto.offset.reset`. Raises CommandError for a start or for partitions that a
    member cannot choose."""
    if partitions:
        raise CommandError(
            "With --group, the group assigns the partitions: leave out --partition.",
            exit_code=ExitCode.USAGE,
        )
    if start.anchor is Anchor.BEGINNING:
        return "earliest"
    if start == StartPosition(Anchor.END):
        return "latest"
    raise CommandError(
        "With --group, --from must be beginning or end: it applies where the group has "
        "no committed offset.",
        "`ottla groups reset` moves a group to any position.",
        exit_code=ExitCode.USAGE,
    )


class GroupReading:
    """One run as a member. With `ends` it stops when its assigned partitions are read up to them;
    without it does not stop by itself."""

    def __init__(
        self,
        consumer: Consumer,
        request: GroupRequest,
        ends: Mapping[int, int] | None,
        terminal: Terminal,
        clock: Clock,
    ) -> None:
        self.records = 0
        self.size_in_bytes = 0
        self._consumer = consumer
        self._request = request
        self._ends = ends
        self._terminal = terminal
        self._clock = clock
        self._is_stopped = False
        self._finished: set[int] = set()
        # By partition, the offset after the last record taken, and after the last record written
        # since the last commit.
        self._taken: dict[int, int] = {}
        self._written: dict[int, int] = {}
        self._committed_at = clock.monotonic()

    @property
    def records_expected(self) -> int | None:
        return self._request.records_max

    @property
    def is_done(self) -> bool:
        if self._is_stopped or self.records == self._request.records_max:
            return True
        if self._ends is None:
            return False
        assigned = {each.partition for each in self._consumer.assignment()}
        # Without partitions it waits: other members have them and may leave the group.
        return bool(assigned) and assigned <= self._finished

    def stop(self) -> None:
        """Stops reading after the received records are written."""
        self._is_stopped = True

    def begin(self) -> None:
        self._consumer.subscribe(
            [self._request.topic], on_assign=self._on_assign, on_revoke=self._on_revoke
        )

    def take(self, messages: Sequence[Message], output: RecordOutput) -> None:
        for message in messages:
            if self.records == self._request.records_max:
                break
            partition, offset = message.partition(), message.offset()
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
                raise refused_by_client(f"read as a member of {self._request.group}", error)
            assert partition is not None
            assert offset is not None
            if error is None and self._is_in_range(partition, offset):
                output.append(message)
                self._taken[partition] = offset + 1
                self.records += 1
                self.size_in_bytes += len(message)
            if self._ends is not None and offset >= self._ends.get(partition, 0) - (error is None):
                self._finished.add(partition)

    def flushed(self) -> None:
        self._written |= self._taken
        self._taken.clear()
        if self._clock.monotonic() - self._committed_at >= COMMIT_INTERVAL_S:
            self.commit()

    def commit(self) -> None:
        """Commits the written offsets. If it fails, the records are read again by the next run."""
        self._committed_at = self._clock.monotonic()
        if not self._written:
            return
        offsets = [
            TopicPartition(self._request.topic, partition, offset)
            for partition, offset in sorted(self._written.items())
        ]
        self._written.clear()
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            self._terminal.notice(
                f"Offset commit failed; the records may be read again: {error.args[0].str()}."
            )

    def _is_in_range(self, partition: int, offset: int) -> bool:
        return self._ends is None or offset < self._ends.get(partition, 0)

    def _on_assign(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if not partitions:
            self._terminal.notice(
                f"Group {self._request.group} has no partition left for this member; waiting."
            )

    def _on_revoke(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        self.commit()


def run_group(
    cluster: ConnectedCluster,
    terminal: Terminal,
    clock: Clock,
    request: GroupRequest,
    output: RecordOutput,
) -> None:
    partitions = cluster.partitions(request.topic)
    ends = None if request.follow else cluster.last_stable(request.topic, partitions)
    watch = ConnectionWatch(clock, terminal, is_patient=request.follow)
    consumer = cluster.consumer(
        {
            "error_cb": watch.on_error,
            "group.id": request.group,
            "auto.offset.reset": request.offset_reset,
        }
    )
    reading = GroupReading(consumer, request, ends, terminal, clock)
    try:
        with _interruption_stops(reading) as was_interrupted:
            read_until_done(reading, consumer, output, terminal, clock, watch, title=request.topic)
    finally:
        reading.commit()
        consumer.close()
    # With --follow Ctrl-C is the normal end.
    if was_interrupted() and not request.follow:
        raise KeyboardInterrupt


@contextmanager
def _interruption_stops(reading: GroupReading) -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C stops the reading after complete records; the second interrupts at once."""
    was_interrupted = False

    def on_interrupt(_number: int, _frame: object) -> None:
        nonlocal was_interrupted
        was_interrupted = True
        signal.signal(signal.SIGINT, before)
        reading.stop()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield lambda: was_interrupted
    finally:
        signal.signal(signal.SIGINT, before)
