"""`ottla shares redrive` at work.

Each transaction sends some records and commits which letters they came from, so that no letter is
redriven twice, whatever fails in between. Another run with the same dead letter topic fences this
one: its transactional id is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Final, NamedTuple

from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_access import ClusterAccess
from ottla.cli.connection.data_clients import new_consumer, new_producer
from ottla.cli.connection.topic_lookup import (
    earliest_offsets,
    existing_partitions,
    last_stable_offsets,
)
from ottla.cli.display.cells import count
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError
from ottla.cli.shares.redrive.dead_letter import (
    REDRIVEN_FROM,
    DeadLetter,
    LetterFilter,
    own_headers,
    read_letter,
)
from ottla.cli.shares.redrive.originals import Originals
from ottla.client.administration.admin import Admin
from ottla.client.consuming.consumer import Consumer
from ottla.client.producing.producer import Producer
from ottla.client.records import ConsumerGroupMetadata, OffsetAndMetadata
from ottla.model import TopicPartition
from ottla.shares.redrive import REDRIVE_PREFIX, RedriveProgress, parse_progress

# Letters of one transaction.
_BATCH: Final = 500
_POLL_SECONDS: Final = 1.0
_MISSING: Final = "missing"


class RedriveRequest(NamedTuple):
    """`target` is a topic instead of the letters' own; `again`: also letters that were redriven
    before."""

    topic: str
    letters: LetterFilter
    target: str | None
    limit: int | None
    again: bool
    executes: bool


class Redriven(NamedTuple):
    """A letter with the record that is sent for it; `form` is original, copy or missing."""

    letter: DeadLetter
    form: str
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class Redrive:
    """One run."""

    def __init__(
        self,
        admin: Admin,
        terminal: Terminal,
        request: RedriveRequest,
        consumer: Consumer,
        originals: Originals,
        *,
        as_json: bool,
    ) -> None:
        self._admin = admin
        self._terminal = terminal
        self._request = request
        self._consumer = consumer
        self._originals = originals
        self._as_json = as_json
        self._group = REDRIVE_PREFIX + request.topic
        self._progress: dict[TopicPartition, RedriveProgress] = {}
        self._counts: Counter[tuple[str, str, str, str]] = Counter()
        self._others = 0

    async def run(self, producer: Producer | None) -> None:
        """Without a producer, only shows what would be sent."""
        if producer is not None:
            # Fences an earlier run, before its progress is read.
            await producer.init_transactions()
        ends = await self._read_progress()
        batch: list[Redriven] = []
        async for letter in self._letters(ends):
            batch.append(await self._redriven(letter))
            if len(batch) == _BATCH:
                await self._send(producer, batch)
                batch = []
        await self._send(producer, batch)
        self._show(is_sent=producer is not None)

    async def _read_progress(self) -> dict[TopicPartition, int]:
        """The ends of the partitions. Sets where to go on in each."""
        topic = self._request.topic
        partitions = await existing_partitions(self._admin, topic)
        first = await earliest_offsets(self._admin, topic, partitions)
        last = await last_stable_offsets(self._admin, topic, partitions)
        names = {each: TopicPartition(topic, each) for each in partitions}
        committed = {}
        if not self._request.again:
            groups = await self._admin.list_group_offsets([self._group], require_stable=True)
            committed = groups[self._group]
        for each, name in names.items():
            known = committed.get(name)
            progress = RedriveProgress()
            if known is not None:
                progress = parse_progress(known.offset, known.metadata)
            next_offset = max(progress.next_offset, first[each])
            self._progress[name] = progress._replace(next_offset=next_offset).with_done(())
        return {name: last[each] for each, name in names.items()}

    async def _letters(self, ends: dict[TopicPartition, int]) -> AsyncIterator[DeadLetter]:
        """Those that match, up to the limit."""
        left = self._request.limit
        for name, end in ends.items():
            progress = self._progress[name]
            if progress.next_offset >= end:
                continue
            self._consumer.assign([name])
            self._consumer.seek(name, progress.next_offset)
            while await self._consumer.position(name) < end:
                for record in await self._consumer.poll(_POLL_SECONDS):
                    if left == 0:
                        return
                    if record.offset >= end or progress.is_done(record.offset):
                        continue
                    letter = read_letter(record)
                    if letter is None:
                        self._others += 1
                    elif self._request.letters.matches(letter):
                        left = None if left is None else left - 1
                        yield letter

    async def _redriven(self, letter: DeadLetter) -> Redriven:
        """The record at the letter's origin, with its headers; if it is not there any more, or
        another record is, what the letter has copied."""
        mark = (REDRIVEN_FROM, letter.name.encode())
        copied = (letter.record.key, letter.record.value)
        name = TopicPartition(letter.topic, letter.partition)
        found = await self._originals.read(name, letter.offset)
        if found is not None and (letter.is_reference or (found.key, found.value) == copied):
            headers = (*found.headers, mark)
            return Redriven(letter, "original", found.key, found.value, headers)
        if letter.is_reference:
            return Redriven(letter, _MISSING)
        return Redriven(letter, "copy", *copied, (*own_headers(letter), mark))

    # ---- sending

    async def _send(self, producer: Producer | None, batch: list[Redriven]) -> None:
        sent = [each for each in batch if each.form != _MISSING]
        if producer is not None and sent:
            done: dict[TopicPartition, list[int]] = {}
            for each in sent:
                record = each.letter.record
                name = TopicPartition(record.topic, record.partition)
                done.setdefault(name, []).append(record.offset)
            async with producer.transaction():
                for each in sent:
                    target, partition = await self._place(producer, each.letter)
                    await producer.send(
                        target,
                        each.value,
                        key=each.key,
                        partition=partition,
                        headers=list(each.headers),
                    )
                offsets = {name: self._committed(name, found) for name, found in done.items()}
                await producer.send_offsets_to_transaction(
                    offsets, ConsumerGroupMetadata(self._group)
                )
            for name, found in done.items():
                self._progress[name] = self._progress[name].with_done(found)
        for each in batch:
            self._note(each, is_sent=producer is not None)

    async def _place(self, producer: Producer, letter: DeadLetter) -> tuple[str, int | None]:
        """The letter's own partition, unless the topic is another one."""
        target = self._request.target
        if target is not None:
            return target, None
        partitions = await producer.partitions_for(letter.topic)
        return letter.topic, letter.partition if letter.partition < partitions else None

    def _committed(self, name: TopicPartition, offsets: list[int]) -> OffsetAndMetadata:
        progress = self._progress[name].with_done(offsets)
        text = progress.text(len(offsets))
        if text is None:
            raise CommandError(
                f"Earlier runs skipped too many dead letters of {name} to remember them.",
                "Redrive without filters, or use a dead letter topic for each group.",
            )
        return OffsetAndMetadata(progress.next_offset, metadata=text)

    # ---- showing

    def _note(self, redriven: Redriven, *, is_sent: bool) -> None:
        letter, form = redriven.letter, redriven.form
        target = self._request.target or letter.topic
        self._counts[letter.group, target, letter.cause, form] += 1
        if self._as_json:
            self._terminal.print_json(
                {
                    "letter": letter.name,
                    "group": letter.group,
                    "topic": letter.topic,
                    "partition": letter.partition,
                    "offset": letter.offset,
                    "delivery_count": letter.delivery_count,
                    "cause": letter.cause,
                    "form": form,
                    "to": None if form == _MISSING else target,
                    "sent": is_sent and form != _MISSING,
                }
            )

    def _show(self, *, is_sent: bool) -> None:
        missing = sum(number for key, number in self._counts.items() if key[-1] == _MISSING)
        if not self._as_json:
            table = new_table("group", "to", "cause", "record", "letters", right=("letters",))
            for key, number in sorted(self._counts.items()):
                table.add_row(*key, str(number))
            self._terminal.stdout.print(table)
        if missing:
            self._terminal.notice(
                f"Not sent: {count(missing, 'letter')} without a copy of the record, which is "
                "not in its topic any more."
            )
        if self._others:
            self._terminal.notice(
                f"Skipped {count(self._others, 'record')} without the headers of dead letters."
            )
        if not is_sent:
            self._terminal.notice("Nothing was sent. Add --execute to send the records.")


async def run_redrive(
    admin: Admin,
    access: ClusterAccess,
    terminal: Terminal,
    request: RedriveRequest,
    *,
    as_json: bool,
) -> None:
    if request.target is not None:
        await existing_partitions(admin, request.target)
    everything = {"isolation.level": "read_uncommitted"}
    with doing(f"redrive {request.topic}"):
        async with (
            new_consumer(access) as consumer,
            new_consumer(access, everything) as reader,
        ):
            redrive = Redrive(
                admin, terminal, request, consumer, Originals(reader), as_json=as_json
            )
            if not request.executes:
                await redrive.run(None)
                return
            identity = {"transactional.id": REDRIVE_PREFIX + request.topic}
            async with new_producer(access, identity) as producer:
                await redrive.run(producer)
