"""All records that are locked for this member, and how the application acknowledges them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable

from ottla.client.errors import UnsupportedVersionError
from ottla.client.sharing.acknowledgements import AckRun, AckRuns
from ottla.client.sharing.errors import InvalidRecordStateError
from ottla.client.sharing.lease import Lease
from ottla.client.sharing.metrics import ShareConsumerMetrics
from ottla.client.sharing.outcomes import AcknowledgementOutcomes
from ottla.client.sharing.records import SharedRecord
from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.clock import Clock
from ottla.shares.record_state import AcknowledgeType
from ottla.shares.retry_delay import RETRY_DELAY_MS_MAX


class Leases:
    """Belongs to a share consumer. `numbers` count acknowledgements, so that a commit knows which
    ones it waits for."""

    def __init__(
        self, clock: Clock, outcomes: AcknowledgementOutcomes, metrics: ShareConsumerMetrics
    ) -> None:
        self._clock = clock
        self._outcomes = outcomes
        self._metrics = metrics
        # Those with records to be handed out, in the order of the responses.
        self._waiting: deque[Lease] = deque()
        # Those with records that are not acknowledged, by partition, the newest one last.
        self._open: defaultdict[TopicPartition, list[Lease]] = defaultdict(list)
        # Of the last poll: accepted by the next one in the implicit mode.
        self._delivered: dict[Lease, None] = {}
        self.number = 0
        # How long locks last, as the last response said.
        self.lock_ms: int | None = None

    # ---- handing out

    @property
    def has_waiting(self) -> bool:
        return self.next_waiting() is not None

    def next_waiting(self) -> Lease | None:
        """The next lease with records to be handed out. Records whose locks have ended are dropped:
        other members may have them."""
        now = self._clock.monotonic()
        while self._waiting:
            lease = self._waiting[0]
            if lease.is_waiting and lease.is_held and lease.lock_ends > now:
                return lease
            if dropped := lease.drop_waiting():
                self._metrics.count("records-dropped-total", dropped)
            self._waiting.popleft()
            self._maybe_forget(lease)
        return None

    def add(self, lease: Lease, settled: Iterable[AckRun]) -> None:
        """Records that were received; `settled` is acknowledged already."""
        self.number += 1
        for run in settled:
            lease.session.acknowledge(lease.name, run, self.number)
        if lease.records:
            self._waiting.append(lease)
            self._open[lease.name].append(lease)

    def take(self, lease: Lease, count_max: int) -> list[SharedRecord]:
        records = lease.take(count_max)
        self._delivered[lease] = None
        return records

    def give_back(self, lease: Lease) -> None:
        """Records that were taken and not used are waiting again."""
        if lease.is_waiting and (not self._waiting or self._waiting[0] is not lease):
            self._waiting.appendleft(lease)

    def drop_lost(self) -> None:
        """Forgets the records of sessions that have ended."""
        for leases in list(self._open.values()):
            for lease in [each for each in leases if not each.is_held]:
                lease.drop_waiting()
                lease.open_count = 0
                self._maybe_forget(lease)

    def outstanding(self, node_id: int) -> bool:
        """Whether the application has records of this node that it may acknowledge soon."""
        return any(
            lease.session.node_id == node_id for leases in self._open.values() for lease in leases
        )

    # ---- acknowledging

    def accept_delivered(self) -> None:
        """Accepts everything that was handed out and not acknowledged otherwise."""
        delivered, self._delivered = self._delivered, {}
        now = self._clock.monotonic()
        self.number += 1
        for lease in delivered:
            if lease.is_held and lease.lock_ends > now and not lease.renewed:
                for run in lease.accept_delivered():
                    lease.session.acknowledge(lease.name, run, self.number)
            else:
                for record in lease.delivered():
                    self._acknowledge(record, AcknowledgeType.ACCEPT, None)
            self._maybe_forget(lease)

    def acknowledge(
        self, records: Iterable[SharedRecord], kind: AcknowledgeType, delay_ms: int | None = None
    ) -> None:
        """What this member does not hold any more is reported as an outcome."""
        self.number += 1
        for record in records:
            self._acknowledge(record, kind, delay_ms)

    def release(self, records: Iterable[SharedRecord], delay: float | None, backoff: float) -> None:
        """Raises UnsupportedVersionError, and then nothing is released."""
        if delay is None:
            self.acknowledge(records, AcknowledgeType.RELEASE)
            return
        if delay < 0 or backoff < 1:
            raise ValueError("a delay is not negative, and a backoff is at least 1")
        delays = [
            (record, self._delay_ms(record, delay * backoff ** min(record.delivery_count - 1, 32)))
            for record in records
        ]
        self.number += 1
        for record, delay_ms in delays:
            self._acknowledge(record, AcknowledgeType.RELEASE, delay_ms)

    def _delay_ms(self, record: SharedRecord, seconds: float) -> int:
        name = TopicPartition(record.topic, record.partition)
        lease = self._lease_of(name, record)
        delay_ms_max = RETRY_DELAY_MS_MAX if lease is None else lease.session.delay_ms_max
        if not delay_ms_max:
            raise UnsupportedVersionError(
                ErrorCode.UNSUPPORTED_VERSION,
                "the brokers of this cluster take no delay when records are released; leave delay "
                "out, and they are delivered again at once",
            )
        return round(min(seconds * 1_000, delay_ms_max))

    def _acknowledge(
        self, record: SharedRecord, kind: AcknowledgeType, delay_ms: int | None
    ) -> None:
        name, offset = TopicPartition(record.topic, record.partition), record.offset
        run = AckRun(offset, offset, kind, delay_ms)
        lease = self._lease_of(name, record)
        if lease is None:
            self._refuse(name, run, "it was acknowledged before, or its session has ended")
            return
        now = self._clock.monotonic()
        if lease.lock_of(offset) <= now:
            lease.acknowledge(offset)
            self._refuse(name, run, "its lock has ended")
        else:
            lease.session.acknowledge(name, run, self.number)
            if kind is AcknowledgeType.RENEW:
                lease.renewed[offset] = now + (self.lock_ms or 0) / 1_000
            else:
                lease.acknowledge(offset)
        self._maybe_forget(lease)

    def _lease_of(self, name: TopicPartition, record: SharedRecord) -> Lease | None:
        for lease in reversed(self._open.get(name, ())):
            if lease.is_open(record.offset):
                return lease if lease.is_held else None
        return None

    def _refuse(self, name: TopicPartition, run: AckRun, reason: str) -> None:
        runs = AckRuns(self.number)
        runs.add(run)
        message = f"{name}: this member does not hold the record at offset {run.first}: {reason}"
        error = InvalidRecordStateError(ErrorCode.INVALID_RECORD_STATE, message)
        self._outcomes.refuse(name, runs, error)

    def _maybe_forget(self, lease: Lease) -> None:
        if lease.open_count > 0:
            return
        leases = self._open.get(lease.name, [])
        if lease in leases:
            leases.remove(lease)
            if not leases:
                del self._open[lease.name]
        if lease.is_held:
            self._delivered.pop(lease, None)
