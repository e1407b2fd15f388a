"""Runs `ottla consume --share`: reads as a member of a share group and acknowledges.

Records are acknowledged after they are written to the output: if the command is killed in between,
they are delivered again. Ctrl-C acknowledges and leaves the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from ottla.cli.connection.admin_connection import doing, with_admin
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.connection_watch import ConnectionWatch, answers
from ottla.cli.connection.data_clients import new_share_consumer
from ottla.cli.connection.topic_lookup import existing_partitions
from ottla.cli.consume.loop import interruption_stops, read_until_done
from ottla.cli.consume.output import RecordOutput
from ottla.cli.consume.start_position import Anchor, StartPosition
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.client.administration.share_groups import SHARE
from ottla.client.errors import ClientError
from ottla.client.sharing.records import AcknowledgementOutcome, SharedRecord
from ottla.client.sharing.share_consumer import ShareConsumer
from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.model import TopicPartition
from ottla.runtime.clock import Clock

# Without --follow: for so long no record was available.
IDLE_S: Final = 2.0
# The first partitions are assigned when the group's state is created.
_PATIENCE_S: Final = 15.0
_POLL_RECORDS: Final = 500
_RESET: Final = "share.auto.offset.reset"


class Acknowledge(Enum):
    """What becomes of printed records."""

    ACCEPT = "accept"
    RELEASE = "release"
    REJECT = "reject"


class ShareRequest(NamedTuple):
    """What to read as a member."""

    topic: str
    group: str
    acknowledge: Acknowledge
    follow: bool
    records_max: int | None


def check_options(
    share: str | None,
    group: str | None,
    start: StartPosition,
    partitions: Sequence[int] | None,
    acknowledge: str,
) -> Acknowledge:
    """Raises CommandError for options that do not go with each other."""
    if share is None:
        problem = "--acknowledge needs --share."
    elif group is not None:
        problem = "--share and --group exclude each other."
    elif partitions:
        problem = "With --share, the group assigns the partitions: leave out --partition."
    elif start.anchor is not Anchor.BEGINNING:
        problem = (
            "With --share, the group decides where to begin: leave out --from. "
            "`ottla shares reset` moves a share group to any position."
        )
    elif acknowledge not in (known := [each.value for each in Acknowledge]):
        problem = f"--acknowledge takes {', '.join(known)}; not {acknowledge!r}."
    else:
        return Acknowledge(acknowledge)
    raise CommandError(problem, exit_code=ExitCode.USAGE)


class ShareRun:
    """One run as a member. Without `follow` it stops when no records were available for a while."""

    def __init__(
        self, consumer: ShareConsumer, request: ShareRequest, terminal: Terminal, clock: Clock
    ) -> None:
        self.records = 0
        self.size_in_bytes = 0
        self._consumer = consumer
        self._request = request
        self._terminal = terminal
        self._clock = clock
        self._is_stopped = False
        self._taken: list[SharedRecord] = []
        self._active_at = clock.monotonic()
        self._failed = 0

    @property
    def records_expected(self) -> int | None:
        return self._request.records_max

    @property
    def is_done(self) -> bool:
        if self._is_stopped or self.records == self._request.records_max:
            return True
        if self._request.follow:
            return False
        idle = self._clock.monotonic() - self._active_at
        return idle >= (IDLE_S if self._consumer.assignment() else _PATIENCE_S)

    def stop(self) -> None:
        """Stops reading after the received records are written."""
        self._is_stopped = True

    async def begin(self) -> None:
        await self._consumer.subscribe([self._request.topic], on_acknowledged=self._on_acknowledged)
        self._active_at = self._clock.monotonic()

    def take(self, records: Sequence[SharedRecord], output: RecordOutput) -> None:
        if records:
            self._active_at = self._clock.monotonic()
        for record in records:
            if self.records == self._request.records_max:
                break
            output.append(record)
            self._taken.append(record)
            self.records += 1
            self.size_in_bytes += len(record.value or b"")

    async def flushed(self) -> None:
        """The records are written. Released ones stay locked until the member leaves, so that it
        prints each of them once."""
        taken, self._taken = self._taken, []
        if self._request.acknowledge is Acknowledge.ACCEPT:
            self._consumer.accept(taken)
        elif self._request.acknowledge is Acknowledge.REJECT:
            self._consumer.reject(taken)

    async def end(self) -> None:
        """Sends the last acknowledgements."""
        try:
            await self._consumer.commit()
        except ClientError as error:
            self._terminal.notice(f"Acknowledging failed; records may be delivered again: {error}.")
        if self._failed:
            self._terminal.notice(
                f"Records whose acknowledgement was refused: {self._failed}. They are delivered "
                "again."
            )

    def _on_acknowledged(self, outcome: AcknowledgementOutcome) -> None:
        if outcome.error is not None:
            self._failed += len(outcome.offsets)


def run_share(
    options: ClusterOptions,
    terminal: Terminal,
    clock: Clock,
    request: ShareRequest,
    output: RecordOutput,
) -> None:
    access = resolve(options)
    configs = {
        "group.id": request.group,
        "share.acknowledgement.mode": "explicit",
        "max.poll.records": _POLL_RECORDS,
    }
    if request.records_max is not None:
        # No records are locked that are not printed.
        configs["share.acquire.mode"] = "record_limit"
        configs["max.poll.records"] = min(request.records_max, _POLL_RECORDS)
    with_admin(
        options,
        terminal,
        lambda admin: _consume(
            admin, new_share_consumer(access, configs), terminal, clock, request, output
        ),
    )


async def _consume(
    admin: Admin,
    consumer: ShareConsumer,
    terminal: Terminal,
    clock: Clock,
    request: ShareRequest,
    output: RecordOutput,
) -> None:
    partitions = await existing_partitions(admin, request.topic)
    names = {TopicPartition(request.topic, each) for each in partitions}
    await _note_start(admin, terminal, request, names)
    watch = ConnectionWatch(clock, terminal, lambda: answers(admin), is_patient=request.follow)
    reading = ShareRun(consumer, request, terminal, clock)
    with doing(f"read as a member of {request.group}"):
        try:
            with interruption_stops(reading.stop) as was_interrupted:
                await read_until_done(
                    reading, consumer, output, terminal, clock, watch, title=request.topic
                )
        finally:
            await reading.end()
            await consumer.close()
    # With --follow Ctrl-C is the normal end.
    if was_interrupted() and not request.follow:
        raise KeyboardInterrupt


async def _note_start(
    admin: Admin, terminal: Terminal, request: ShareRequest, names: set[TopicPartition]
) -> None:
    """A new group begins at the end of the topic by default, which surprises."""
    group, resource = request.group, ConfigResource(ConfigResourceType.GROUP, request.group)
    with doing(f"describe share group {group}"):
        known = {each.id for each in await admin.list_groups(types=[SHARE])}
        offsets = await admin.list_share_group_offsets(group) if group in known else {}
        if any(name in offsets and offsets[name].start_offset is not None for name in names):
            return
        configs = (await admin.describe_configs([resource], names=[_RESET])).get(resource, {})
    reset = configs.get(_RESET)
    if reset is not None and reset.value == "latest":
        terminal.notice(
            f"Share group {group} begins at the end of {request.topic}: only new records are "
            f"shown. For earlier ones: ottla shares reset {group} --to earliest --topic "
            f"{request.topic} --execute"
        )
