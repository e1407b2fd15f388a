"""The sessions of a gateway: opens their consumers, reads, commits and seeks with them.

Both kinds of calls, the plain ones and those of REST v2, work on the same sessions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ottla.client.records import ConsumedRecord, OffsetAndMetadata
from ottla.model import TopicPartition
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.web.gateway.callers.caller_clients import CallerClients
from ottla.web.gateway.clients import ConsumerOptions, SessionConsumer
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS
from ottla.web.gateway.problems import GatewayProblem, no_partition
from ottla.web.gateway.sessions.session_owner import client_id_of, owner_of
from ottla.web.gateway.sessions.session_table import (
    Session,
    SessionLimits,
    SessionName,
    SessionTable,
)

_log = logging.getLogger(__name__)

_EXPIRY_INTERVAL_S: Final = 1.0
_AUTO_COMMIT_S: Final = 5.0
_TEND_INTERVAL_S: Final = 0.25
_ASSIGNMENT_WAIT_S: Final = 5.0
_NONE_WAIT_S: Final = 1.0
_ASSIGNMENT_POLL_S: Final = 0.02
# Modes of members.
_JOINS: Final = ("topics", "pattern")
# How soon a long poll notices that the gateway ends.
_STEP_S: Final = 1.0


@dataclass(slots=True)
class OpenConsumer:
    """A session's consumer. `format` and the two limits are those of a REST v2 instance."""

    client: SessionConsumer
    caller: CallerClients
    format: str = ""
    min_bytes: int = 1
    wait_s: float = 1.0
    # How it was given its partitions: "topics", "pattern", "assigned", or nothing yet.
    mode: str = ""
    # The positions up to which messages were delivered since the last commit of them.
    delivered: dict[TopicPartition, int] = field(default_factory=dict)
    # Whether the next read commits what the previous ones delivered.
    auto_commits: bool = False
    committed_at: float = 0.0


ConsumerSession: TypeAlias = Session[OpenConsumer]


class GatewaySessions:
    """One per gateway. `close` leaves all groups."""

    def __init__(self, limits: SessionLimits, clock: Clock, owner: str) -> None:
        self.owner = owner
        self.is_ending = False
        self.table: SessionTable[OpenConsumer] = SessionTable(limits)
        self._clock = clock
        # Those of streams as well, which end with the sessions.
        self.tasks = Tasks(_task_failed)
        self._opening: set[SessionName] = set()
        self._leaving: set[asyncio.Task[None]] = set()
        # Messages that callers were given, since the start.
        self.delivered = 0

    def start(self) -> None:
        self.tasks.start("closing idle sessions", self._close_idle())
        self.tasks.start("tending idle sessions", self._tend_idle())

    # ---- life

    async def open(
        self, caller: CallerClients, name: SessionName, options: ConsumerOptions
    ) -> ConsumerSession:
        """Raises a problem if the session exists, or there are too many."""
        if name in self._opening or self.table.get(name) is not None:
            raise GatewayProblem(
                409, "SESSION_EXISTS", f"The consumer {name.instance} of {name.group} exists."
            )
        self.table.check_room(name.caller, [each.caller for each in self._opening])
        self._opening.add(name)
        try:
            client = await caller.factory.start_consumer(options)
        finally:
            self._opening.discard(name)
        caller.users += 1
        return self.table.add(name, OpenConsumer(client, caller), now=self._clock.monotonic())

    def options(
        self,
        group: str,
        instance: str,
        *,
        reset: str = "earliest",
        isolation: str = "read_uncommitted",
    ) -> ConsumerOptions:
        timeout_s = self.table.limits.timeout_s
        client_id = client_id_of(self.owner, instance)
        return ConsumerOptions(group, client_id, reset, isolation, timeout_s)

    async def close_session(self, name: SessionName) -> bool:
        """Leaves the group. False if there was no such session."""
        session = self.table.remove(name)
        if session is None:
            return False
        await self._end(session)
        return True

    def end_streams(self) -> None:
        """Streams and long polls end soon, so that the server can."""
        self.is_ending = True

    async def close(self) -> None:
        await self.tasks.close()
        for session in self.table:
            self.table.remove(session.name)
            await self._end(session)
        while self._leaving:
            await asyncio.wait(self._leaving)

    # ---- finding

    async def require(self, caller: CallerClients, name: SessionName) -> ConsumerSession:
        """Raises a problem that says which gateway has the session, if one has."""
        session = self.table.get(name)
        if session is not None:
            return session
        owner = await self.other_owner(caller, name)
        if owner is not None:
            raise misdirected(name, owner)
        raise GatewayProblem(
            404,
            "SESSION_NOT_FOUND",
            f"The group {name.group} has no consumer {name.instance} here: subscribe first. "
            f"Consumers that are not used for {self.table.limits.idle_s:.0f} s are closed.",
        )

    async def other_owner(self, caller: CallerClients, name: SessionName) -> str | None:
        """The address of another gateway that has the session; None if none has it, or the
        caller may not know."""
        try:
            reader = await caller.reader()
            owner = owner_of(await reader.member_client_ids(name.group), name.instance)
        except CLIENT_ERRORS as error:
            _log.debug("cannot look up the members of a group: %s", error)
            return None
        return None if owner == self.owner else owner

    @asynccontextmanager
    async def turn(self, session: ConsumerSession) -> AsyncIterator[OpenConsumer]:
        """Requests for one session follow each other."""
        self.table.acquire(session)
        try:
            async with session.lock:
                if self.table.get(session.name) is not session:
                    raise GatewayProblem(404, "SESSION_NOT_FOUND", "The consumer was closed.")
                yield session.consumer
        finally:
            self.table.release(session, now=self._clock.monotonic())

    # ---- reading

    async def read(
        self,
        consumer: OpenConsumer,
        *,
        max_records: int,
        max_bytes: int,
        min_bytes: int,
        wait_s: float,
    ) -> list[ConsumedRecord]:
        """Messages up to the limits, as soon as there are `min_bytes` of them, or after the
        wait."""
        if consumer.auto_commits:
            await self._maybe_commit(consumer)
        found: list[ConsumedRecord] = []
        size = 0
        deadline = self._clock.monotonic() + wait_s
        try:
            while True:
                records = await consumer.client.poll(
                    max_records=max_records - len(found),
                    max_bytes=max_bytes - size,
                    wait_s=min(max(deadline - self._clock.monotonic(), 0.0), _STEP_S),
                )
                found.extend(records)
                size += sum(map(record_bytes, records))
                if (size >= min(min_bytes, max_bytes) and found) or len(found) >= max_records:
                    break
                if self._clock.monotonic() >= deadline or self.is_ending:
                    break
        except BaseException:
            # The caller does not get these, so the next read begins with them.
            await self.give_back(consumer, found)
            raise
        self.delivered += len(found)
        for record in found:
            partition = TopicPartition(record.topic, record.partition)
            consumer.delivered[partition] = record.offset + 1
        return found

    async def give_back(self, consumer: OpenConsumer, records: Iterable[ConsumedRecord]) -> None:
        """Reads these messages again next time: their response did not reach the caller."""
        first: dict[TopicPartition, int] = {}
        for record in records:
            first.setdefault(TopicPartition(record.topic, record.partition), record.offset)
        assigned = set(consumer.client.assignment())
        for partition, offset in first.items():
            consumer.delivered.pop(partition, None)
            if partition in assigned:
                await consumer.client.seek(partition, offset)

    async def commit(
        self, consumer: OpenConsumer, offsets: Mapping[TopicPartition, OffsetAndMetadata]
    ) -> None:
        """Raises a problem at once for partitions that do not exist: the client would wait for
        them."""
        await self.wait_assigned(consumer)
        others = offsets.keys() - set(consumer.client.assignment())
        if others:
            reader = await consumer.caller.reader()
            for topic in {each.topic for each in others}:
                known = {each.partition for each in await reader.partitions(topic)}
                for each in others:
                    if each.topic == topic and each.partition not in known:
                        raise no_partition(topic, each.partition)
        if offsets:
            await consumer.client.commit(offsets)

    async def commit_delivered(self, consumer: OpenConsumer) -> None:
        """Commits the positions of what was delivered from partitions that are still assigned."""
        assigned = set(consumer.client.assignment())
        offsets = {
            partition: OffsetAndMetadata(offset)
            for partition, offset in consumer.delivered.items()
            if partition in assigned
        }
        await self.commit(consumer, offsets)
        consumer.delivered.clear()
        consumer.committed_at = self._clock.monotonic()

    async def wait_assigned(self, consumer: OpenConsumer) -> None:
        """A consumer that has just subscribed is about to get its partitions. One that got none
        may get some when other members have given them up."""
        deadline = self._clock.monotonic() + _ASSIGNMENT_WAIT_S
        was_placed = False
        while consumer.mode in _JOINS and not consumer.client.assignment():
            if consumer.client.is_placed() and not was_placed:
                was_placed = True
                deadline = min(deadline, self._clock.monotonic() + _NONE_WAIT_S)
            if self._clock.monotonic() >= deadline:
                break
            await consumer.client.tend()
            await self._clock.sleep(_ASSIGNMENT_POLL_S)

    def require_assigned(
        self, consumer: OpenConsumer, partitions: Sequence[TopicPartition]
    ) -> None:
        assigned = set(consumer.client.assignment())
        for partition in partitions:
            if partition not in assigned:
                raise GatewayProblem(
                    409,
                    "ILLEGAL_STATE",
                    f"{partition.topic} partition {partition.partition} is not assigned to this "
                    "consumer now.",
                    retriable=True,
                )

    # ----

    async def _close_idle(self) -> None:
        while True:
            await self._clock.sleep(_EXPIRY_INTERVAL_S)
            for name in self.table.expired(self._clock.monotonic()):
                _log.info("closing the idle consumer %s of %s", name.instance, name.group)
                await self.close_session(name)

    async def _tend_idle(self) -> None:
        """Members that no request polls at present would keep a rebalance from ending."""
        while True:
            await self._clock.sleep(_TEND_INTERVAL_S)
            for session in self.table:
                if session.users or session.consumer.mode not in _JOINS:
                    continue
                async with session.lock:
                    if self.table.get(session.name) is session:
                        await session.consumer.client.tend()

    async def _maybe_commit(self, consumer: OpenConsumer) -> None:
        """The caller that reads on has processed what it got before."""
        now = self._clock.monotonic()
        if consumer.delivered and now - consumer.committed_at >= _AUTO_COMMIT_S:
            await self.commit_delivered(consumer)

    async def _end(self, session: ConsumerSession) -> None:
        """Once begun, it goes on also if the request is cancelled: nothing else knows the consumer
        any more."""
        leaving = asyncio.get_running_loop().create_task(self._leave(session))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)
        await asyncio.shield(leaving)

    async def _leave(self, session: ConsumerSession) -> None:
        consumer = session.consumer
        try:
            if consumer.auto_commits:
                await self.commit_delivered(consumer)
        except CLIENT_ERRORS as error:
            _log.info("the last offsets of %s were not committed: %s", session.name.group, error)
        try:
            await consumer.client.close()
        except CLIENT_ERRORS as error:
            _log.info("a consumer of %s did not leave its group: %s", session.name.group, error)
        finally:
            consumer.caller.users -= 1


def record_bytes(record: ConsumedRecord) -> int:
    """Of its key and value; a record without any counts too."""
    return len(record.key or b"") + len(record.value or b"") or 1


def misdirected(name: SessionName, owner: str) -> GatewayProblem:
    return GatewayProblem(
        421,
        "SESSION_ELSEWHERE",
        f"The consumer {name.instance} of {name.group} is at the gateway {owner}: send the "
        "request there.",
        headers={"Ottla-Owner": owner},
        more={"owner": owner},
    )


def _task_failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)
