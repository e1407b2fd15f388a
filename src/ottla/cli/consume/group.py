"""Runs `ottla consume --group`: reads as a member of a group and commits offsets.

Offsets are committed after their records are written to the output: if the command is killed in
between, the next run writes them again. Ctrl-C commits and leaves the group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from ottla.cli.connection.admin_connection import doing, with_admin
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.connection_watch import ConnectionWatch, answers
from ottla.cli.connection.data_clients import new_consumer
from ottla.cli.connection.topic_lookup import existing_partitions, last_stable_offsets
from ottla.cli.consume.loop import interruption_stops, read_until_done
from ottla.cli.consume.output import RecordOutput
from ottla.cli.consume.start_position import Anchor, StartPosition
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.client.consuming.consumer import Consumer
from ottla.client.errors import ClientError, IllegalStateError, TimedOutError
from ottla.client.records import ConsumedRecord
from ottla.model import TopicPartition
from ottla.runtime.clock import Clock

COMMIT_INTERVAL_S: Final = 1.0
# A position that is not known by then is looked at again in the next round.
_POSITION_TIMEOUT_S: Final = 0.1


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

    async def begin(self) -> None:
        await self._consumer.subscribe(
            [self._request.topic], on_assigned=self._on_assigned, on_revoked=self._on_revoked
        )

    def take(self, records: Sequence[ConsumedRecord], output: RecordOutput) -> None:
        for record in records:
            if self.records == self._request.records_max:
                break
            partition, offset = record.partition, record.offset
            if self._is_in_range(partition, offset):
                output.append(record)
                self._taken[partition] = offset + 1
                self.records += 1
                self.size_in_bytes += len(record.value or b"")
            if self._ends is not None and offset >= self._ends.get(partition, 0) - 1:
                self._finished.add(partition)

    async def flushed(self) -> None:
        self._written |= self._taken
        self._taken.clear()
        await self._find_finished()
        if self._clock.monotonic() - self._committed_at >= COMMIT_INTERVAL_S:
            await self.commit()

    async def commit(self) -> None:
        """Commits the written offsets. If it fails, the records are read again by the next run."""
        self._committed_at = self._clock.monotonic()
        if not self._written:
            return
        offsets = {self._name(partition): at for partition, at in sorted(self._written.items())}
        self._written.clear()
        try:
            await self._consumer.commit(offsets)
        except ClientError as error:
            self._terminal.notice(f"Offset commit failed; the records may be read again: {error}.")

    async def _find_finished(self) -> None:
        """The last offsets may be transaction markers, which are no records: only the position
        shows the end."""
        if self._ends is None:
            return
        for name in self._consumer.assignment():
            if name.partition not in self._finished:
                with suppress(TimedOutError, IllegalStateError):
                    # Without a position yet, or revoked meanwhile: looked at again later.
                    position = await self._consumer.position(name, timeout=_POSITION_TIMEOUT_S)
                    if position >= self._ends.get(name.partition, 0):
                        self._finished.add(name.partition)

    def _is_in_range(self, partition: int, offset: int) -> bool:
        return self._ends is None or offset < self._ends.get(partition, 0)

    def _on_assigned(self, partitions: frozenset[TopicPartition]) -> None:
        if not partitions:
            self._terminal.notice(
                f"Group {self._request.group} has no partition left for this member; waiting."
            )

    async def _on_revoked(self, _partitions: frozenset[TopicPartition]) -> None:
        await self.commit()

    def _name(self, partition: int) -> TopicPartition:
        return TopicPartition(self._request.topic, partition)


def run_group(
    options: ClusterOptions,
    terminal: Terminal,
    clock: Clock,
    request: GroupRequest,
    output: RecordOutput,
) -> None:
    access = resolve(options)
    configs = {"group.id": request.group, "auto.offset.reset": request.offset_reset}
    with_admin(
        options,
        terminal,
        lambda admin: _consume(
            admin, new_consumer(access, configs), terminal, clock, request, output
        ),
    )


async def _consume(
    admin: Admin,
    consumer: Consumer,
    terminal: Terminal,
    clock: Clock,
    request: GroupRequest,
    output: RecordOutput,
) -> None:
    partitions = await existing_partitions(admin, request.topic)
    ends = None if request.follow else await last_stable_offsets(admin, request.topic, partitions)
    watch = ConnectionWatch(clock, terminal, lambda: answers(admin), is_patient=request.follow)
    reading = GroupReading(consumer, request, ends, terminal, clock)
    with doing(f"read as a member of {request.group}"):
        try:
            with interruption_stops(reading.stop) as was_interrupted:
                await read_until_done(
                    reading, consumer, output, terminal, clock, watch, title=request.topic
                )
        finally:
            await reading.commit()
            await consumer.close()
    # With --follow Ctrl-C is the normal end.
    if was_interrupted() and not request.follow:
        raise KeyboardInterrupt
