"""The public consumer of share groups: reads topics as queues."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self, Unpack

from ottla.client.administration.results import Results
from ottla.client.cluster import ClientCluster, ClientSeams, within
from ottla.client.errors import IllegalStateError, TimedOutError
from ottla.client.settings import parse_properties
from ottla.client.sharing.leases import Leases
from ottla.client.sharing.membership import ShareMembership
from ottla.client.sharing.metrics import ShareConsumerMetrics
from ottla.client.sharing.outcomes import AcknowledgementOutcomes
from ottla.client.sharing.properties import (
    SHARE_CONSUMER,
    ShareConsumerProperties,
    share_consumer_settings,
)
from ottla.client.sharing.records import AcknowledgementCallback, SharedRecord
from ottla.client.sharing.share_fetcher import ShareFetcher
from ottla.client.sharing.share_reading import ShareReading
from ottla.model import TopicPartition, uuid_to_text
from ottla.shares.record_state import AcknowledgeType

_log = logging.getLogger(__name__)

_CLOSE_SECONDS: Final = 30.0


class ShareConsumer:
    """A member of a share group: gets records that no other member has at the same time, and
    acknowledges each of them. Read with `async for` or `poll`, in one task at a time.

    In the implicit mode, the default, the next `poll`, `commit` or step of `async for` accepts what
    the previous one returned, except for records that were released or rejected. In the
    explicit mode (`share.acknowledgement.mode=explicit`), only `accept`, `release` and `reject`
    acknowledge; other tasks of the same event loop may call them. Acknowledgements are sent with
    the next `poll` or `commit`. A record that is not acknowledged is delivered again when its lock
    expires, or when the consumer closes.

    The properties are Kafka's, as a mapping or as keywords with `_` for `.`. `TimedOutError` is
    raised by calls with a timeout, in seconds; without one they take `default.api.timeout.ms`.
    """

    def __init__(
        self,
        properties: Mapping[str, Any] | None = None,
        /,
        *,
        seams: ClientSeams | None = None,
        **keywords: Unpack[ShareConsumerProperties],
    ) -> None:
        """Raises ConfigError."""
        seams = seams or ClientSeams.system()
        self._settings = settings = share_consumer_settings(
            parse_properties(SHARE_CONSUMER, properties, keywords, dice=seams.dice)
        )
        self._cluster = cluster = ClientCluster(settings.cluster, seams)
        self._metrics = metrics = ShareConsumerMetrics()
        self._outcomes = AcknowledgementOutcomes(metrics)
        self._leases = Leases(cluster.clock, self._outcomes, metrics)
        self._reading = ShareReading(
            cluster.clock,
            self._leases,
            self._outcomes,
            metrics,
            accepts=not settings.is_explicit,
            records_max=settings.max_poll_records,
            require_subscription=self._require_subscription,
        )
        self._member_id = uuid_to_text(cluster.dice.uuid())
        self._fetcher = self._reading.fetcher = ShareFetcher(
            cluster,
            settings,
            self._member_id,
            self._leases,
            self._outcomes,
            metrics,
            on_records=self._reading.wake,
            fail=self._reading.fail,
        )
        cluster.on_metadata(self._fetcher.pump)

    # ---- life cycle

    async def start(self) -> None:
        """Does nothing yet: the consumer connects when it is used."""

    async def close(self, timeout: float = _CLOSE_SECONDS) -> None:
        """Sends the acknowledgements, in the implicit mode also those of the records that were
        returned last; releases all other records, leaves the group and closes all connections. If
        that does not succeed within the timeout, the brokers release the records when the
        connections close."""
        await self._close(timeout, is_failed=False)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Closes. After an exception, the records that were being processed are released: those of
        the last poll, or the last one of an `async for`."""
        await self._close(_CLOSE_SECONDS, is_failed=error is not None)

    # ---- what to read

    async def subscribe(
        self,
        topics: Iterable[str] | str,
        *,
        on_acknowledged: AcknowledgementCallback | None = None,
    ) -> None:
        """Joins the group with these topics, in place of any earlier ones, at the next poll.

        The callback, a function or a coroutine function, gets an `AcknowledgementOutcome` for each
        partition whose acknowledgements were answered. It runs in calls of poll, commit and close.
        """
        names = frozenset((topics,) if isinstance(topics, str) else topics)
        if not names:
            raise ValueError("subscribe takes at least one topic; unsubscribe leaves the group")
        self._require_open()
        self._outcomes.callback = on_acknowledged
        self._cluster.watch_topics(names)
        if (membership := self._fetcher.membership) is not None:
            membership.subscribe(names)
            return
        membership = self._fetcher.membership = ShareMembership(
            self._cluster,
            self._settings,
            self._member_id,
            self._reading.turns,
            names,
            on_assigned=self._fetcher.pump,
            fail=self._reading.fail,
        )
        membership.start()

    async def unsubscribe(self) -> None:
        """Sends the acknowledgements, releases all other records and leaves the group."""
        membership = self._fetcher.membership
        if membership is None:
            return
        self._reading.settle()
        self._fetcher.membership = None
        self._cluster.watch_topics(())
        await self._fetcher.end_sessions()
        await membership.leave()
        await self._outcomes.run_callbacks()

    def subscription(self) -> frozenset[str]:
        membership = self._fetcher.membership
        return frozenset() if membership is None else membership.topics

    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that the group has assigned to this member, of topics whose names are
        known; other members may have them too."""
        return self._fetcher.assigned()

    # ---- records

    async def poll(
        self, timeout: float = 0.0, max_records: int | None = None
    ) -> list[SharedRecord]:
        """The next records, at most `max_records` or `max.poll.records`; an empty list if there are
        none within the timeout. They are locked for `lock_seconds`."""
        return await self._reading.poll(timeout, max_records)

    def __aiter__(self) -> AsyncIterator[SharedRecord]:
        """Records one by one, without end."""
        return self._reading.iterate()

    async def next_chunk(self) -> Iterator[SharedRecord] | None:
        """For iteration in another thread: see `ottla.client.sync`. None when the consumer
        closes."""
        return await self._reading.next_chunk()

    @property
    def lock_seconds(self) -> float | None:
        """How long records are locked, as the brokers said last; None before the first records."""
        lock_ms = self._leases.lock_ms
        return None if lock_ms is None else lock_ms / 1_000

    # ---- acknowledgements

    def accept(self, records: SharedRecord | Iterable[SharedRecord]) -> None:
        """The records were processed: they are not delivered again.

        If this member does not hold a record any more, `commit` and the callback of `subscribe`
        report `InvalidRecordStateError`, as for all acknowledgements.
        """
        self._leases.acknowledge(_listed(records), AcknowledgeType.ACCEPT)

    def release(
        self,
        records: SharedRecord | Iterable[SharedRecord],
        *,
        delay: float | None = None,
        backoff: float = 1.0,
    ) -> None:
        """The records are delivered again, to any member, unless they were delivered as often as
        the group allows (`share.delivery.count.limit`).

        With a delay in seconds, they are not delivered earlier. The delay is multiplied by
        `backoff` for each earlier delivery, up to a day. Without a delay, the group's
        `ottla.share.retry.delay.ms` applies. Only Ottla's brokers support delays; with other
        brokers, the call raises UnsupportedVersionError.
        """
        self._leases.release(_listed(records), delay, backoff)

    def reject(self, records: SharedRecord | Iterable[SharedRecord]) -> None:
        """The records cannot be processed: they are not delivered again, and go to the group's
        dead letter topic if it has one."""
        self._leases.acknowledge(_listed(records), AcknowledgeType.REJECT)

    def renew(self, records: SharedRecord | Iterable[SharedRecord]) -> None:
        """Extends the locks: they expire `lock_seconds` from now (KIP-1222). The records must still
        be acknowledged."""
        self._leases.acknowledge(_listed(records), AcknowledgeType.RENEW)

    async def commit(self, *, timeout: float | None = None) -> Results[TopicPartition, int]:
        """Sends all acknowledgements and waits until they are stored. Returns, by partition, the
        number of stored acknowledgements or the error; `(await consumer.commit()).all()` raises the
        error."""
        seconds = self._settings.api_timeout_ms / 1_000 if timeout is None else timeout
        deadline = self._cluster.clock.monotonic() + seconds
        commit = self._outcomes.begin_commit()
        try:
            number = self._start_commit()
            answered = self._answered(number)
            await within(self._cluster.clock, deadline, answered, what="committing")
        finally:
            self._outcomes.end_commit(commit)
        await self._outcomes.run_callbacks()
        return commit.results()

    def commit_nowait(self) -> None:
        """Begins to send all acknowledgements; the callback of `subscribe` gets the outcomes."""
        number = self._start_commit()
        self._cluster.tasks.start("commit", self._answered(number))

    def metrics(self) -> dict[str, float]:
        """Counts since the start."""
        return self._metrics.values()

    # ----

    def _start_commit(self) -> int:
        """Returns the number of the last acknowledgement."""
        self._require_open()
        self._reading.settle()
        return self._leases.number

    async def _answered(self, number: int) -> None:
        """Until all acknowledgements up to this number are answered."""
        fetcher = self._fetcher
        fetcher.flushes += 1
        try:
            fetcher.pump()
            while any(
                (oldest := session.oldest()) is not None and oldest <= number
                for session in fetcher.sessions
            ):
                await self._outcomes.wait_change()
        finally:
            fetcher.flushes -= 1

    async def _close(self, timeout: float, *, is_failed: bool) -> None:
        if self._reading.is_closed:
            return
        self._reading.settle(is_failed=is_failed)
        self._reading.is_closed = True
        self._reading.wake()
        deadline = self._cluster.clock.monotonic() + timeout
        what = "closing the share consumer"
        try:
            await within(self._cluster.clock, deadline, self._end(), what=what)
        except TimedOutError as error:
            _log.warning("%s", error)
        finally:
            await self._cluster.close()
        await self._outcomes.run_callbacks()

    async def _end(self) -> None:
        membership, self._fetcher.membership = self._fetcher.membership, None
        await self._fetcher.end_sessions()
        if membership is not None:
            await membership.leave()

    def _require_open(self) -> None:
        if self._reading.is_closed:
            raise IllegalStateError("this consumer is closed")

    def _require_subscription(self) -> None:
        if self._fetcher.membership is None:
            raise IllegalStateError("the consumer is not subscribed to any topics")


def _listed(records: SharedRecord | Iterable[SharedRecord]) -> Iterable[SharedRecord]:
    return (records,) if isinstance(records, SharedRecord) else records
