"""What a share consumer acknowledges: batches of requests, leases, and what it holds no more."""

from __future__ import annotations

import pytest

from ottla.client.errors import UnsupportedVersionError
from ottla.client.settings.common import ClusterSettings
from ottla.client.sharing.acknowledgements import AckRun, AckRuns, fetch_batches
from ottla.client.sharing.decoding import SharedDecoder
from ottla.client.sharing.errors import InvalidRecordStateError
from ottla.client.sharing.lease import Lease
from ottla.client.sharing.leases import Leases
from ottla.client.sharing.metrics import ShareConsumerMetrics
from ottla.client.sharing.node_session import NodeShareSession
from ottla.client.sharing.outcomes import AcknowledgementOutcomes
from ottla.client.sharing.properties import ShareConsumerSettings
from ottla.client.sharing.records import SharedRecord
from ottla.model import Offset, TimestampMs, TopicPartition, Uuid
from ottla.shares.delivery import Acquired
from ottla.shares.record_state import AcknowledgeType
from ottla.shares.retry_delay import delay_of
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.records import Record, build_batch
from ottla.wire.records.header import TimestampType

ONLY = TopicPartition("t", 0)
TOPIC_ID = Uuid(bytes(range(16)))
ACCEPT, RELEASE = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE
REJECT, RENEW, GAP = AcknowledgeType.REJECT, AcknowledgeType.RENEW, AcknowledgeType.GAP


def record(offset: int, count: int = 1) -> SharedRecord:
    kind = TimestampType.CREATE_TIME
    return SharedRecord("t", 0, offset, 0, kind, None, b"%d" % offset, (), 0, count)


def runs(*added: AckRun) -> AckRuns:
    found = AckRuns(1)
    for each in added:
        found.add(each)
    return found


def session() -> NodeShareSession:
    settings = ShareConsumerSettings(cluster=ClusterSettings(bootstrap=()), group_id="g")
    return NodeShareSession(1, settings, "m")


def batch(first: int, *values: bytes) -> bytes:
    records = [Record(Offset(at), TimestampMs(0), None, value) for at, value in enumerate(values)]
    data = build_batch(records)
    data[:8] = first.to_bytes(8)
    return bytes(data)


def test_neighbors_are_one_batch_with_one_type_or_one_for_each() -> None:
    found = runs(
        AckRun(7, 7, REJECT), AckRun(0, 3, ACCEPT), AckRun(4, 4, ACCEPT), AckRun(5, 6, RELEASE)
    )
    (only,) = found.batches()
    assert (only.first, only.last, only.types) == (0, 7, [1, 1, 1, 1, 1, 2, 2, 3])
    (only,) = runs(AckRun(0, 1, ACCEPT), AckRun(2, 9, ACCEPT)).batches()
    assert (only.first, only.last, only.types) == (0, 9, [1])
    assert found.offsets() == tuple(range(8))


def test_other_delays_and_gaps_begin_another_batch() -> None:
    found = runs(AckRun(0, 1, RELEASE, 500), AckRun(2, 2, RELEASE), AckRun(4, 4, RELEASE, 500))
    batches = fetch_batches(found)
    assert [(each.first_offset, each.last_offset) for each in batches] == [(0, 1), (2, 2), (4, 4)]
    assert [delay_of(each) for each in batches] == [500, None, 500]


def test_only_locked_records_are_decoded_and_gaps_are_acknowledged() -> None:
    data = batch(10, b"10", b"11", b"12") + batch(15, b"15", b"16")
    locked = [Acquired(11, 14, 1), Acquired(15, 15, 3), Acquired(17, 17, 1)]
    found = SharedDecoder(ONLY, locked).decode(data, checks_crcs=True)
    assert [(each.value, each.delivery_count) for each in found.records] == [
        (b"11", 1),
        (b"12", 1),
        (b"15", 3),
    ]
    # The log has no records at 13 and 14; 17 is missing in the response.
    assert found.settled == [AckRun(13, 13, GAP), AckRun(14, 14, GAP), AckRun(17, 17, RELEASE)]
    assert found.unreadable is None


def test_a_corrupt_batch_is_rejected_and_the_others_are_delivered() -> None:
    bad = bytearray(batch(0, b"0", b"1"))
    bad[-1] ^= 1
    found = SharedDecoder(ONLY, [Acquired(0, 2, 1)]).decode(
        bytes(bad) + batch(2, b"2"), checks_crcs=True
    )
    assert [each.offset for each in found.records] == [2]
    assert found.settled == [AckRun(0, 1, REJECT)]
    assert found.unreadable is not None


class Held:
    """Leases on a clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.clock = SimulatedClock()
        metrics = ShareConsumerMetrics()
        self.outcomes = AcknowledgementOutcomes(metrics)
        self.leases = Leases(self.clock, self.outcomes, metrics)
        self.leases.lock_ms = 30_000
        self.session = session()

    def lock(self, *offsets: int) -> list[SharedRecord]:
        """Locks records for 30 seconds and hands them out."""
        lock_ends = self.clock.monotonic() + 30.0
        lease = Lease(self.session, ONLY, [record(each) for each in offsets], lock_ends=lock_ends)
        self.leases.add(lease, ())
        return self.leases.take(lease, len(offsets))

    def pending(self) -> list[AckRun]:
        found = self.session.pending.get(ONLY)
        return [] if found is None else found.runs

    def refused(self) -> bool:
        commit = self.outcomes.begin_commit()
        self.outcomes.end_commit(commit)
        return isinstance(commit.results().failed.get(ONLY), InvalidRecordStateError)


def test_what_was_not_acknowledged_otherwise_is_accepted() -> None:
    held = Held()
    records = held.lock(0, 1, 2, 3)
    held.leases.acknowledge([records[1]], REJECT)
    held.leases.accept_delivered()
    assert sorted(held.pending()) == [
        AckRun(0, 0, ACCEPT),
        AckRun(1, 1, REJECT),
        AckRun(2, 3, ACCEPT),
    ]
    assert not held.leases.outstanding(1)
    held.leases.accept_delivered()
    assert len(held.pending()) == 3


def test_a_record_is_acknowledged_once() -> None:
    held = Held()
    records = held.lock(0, 1)
    held.leases.acknowledge(records, ACCEPT)
    assert held.pending() == [AckRun(0, 1, ACCEPT)]
    assert not held.refused()
    held.leases.acknowledge([records[0]], RELEASE)
    assert held.pending() == [AckRun(0, 1, ACCEPT)]
    assert held.refused()


def test_a_lock_that_has_ended_is_not_acknowledged_unless_it_was_renewed() -> None:
    """One record that the broker refuses would take all others of the request with it."""
    held = Held()
    records = held.lock(0, 1)
    held.clock.advance(20.0)
    held.leases.acknowledge([records[0]], RENEW)
    held.clock.advance(20.0)
    held.leases.acknowledge(records, ACCEPT)
    assert held.pending() == [AckRun(0, 0, ACCEPT)]
    assert held.refused()


def test_records_whose_locks_have_ended_are_not_handed_out() -> None:
    held = Held()
    lease = Lease(held.session, ONLY, [record(0)], lock_ends=30.0)
    held.leases.add(lease, ())
    assert held.leases.has_waiting
    held.clock.advance(30.0)
    assert not held.leases.has_waiting


def test_a_lost_session_takes_its_records_with_it() -> None:
    held = Held()
    records = held.lock(0, 1)
    held.leases.acknowledge([records[0]], ACCEPT)
    assert held.session.restart()[ONLY].runs == [AckRun(0, 0, ACCEPT)]
    held.leases.drop_lost()
    held.leases.acknowledge([records[1]], ACCEPT)
    assert held.pending() == []
    assert held.refused()
    # The same offset, locked again.
    (again,) = held.lock(1)
    held.leases.acknowledge([again], ACCEPT)
    assert held.pending() == [AckRun(1, 1, ACCEPT)]


def test_brokers_that_take_no_delays_are_given_none() -> None:
    held = Held()
    records = held.lock(0, 1)
    with pytest.raises(UnsupportedVersionError):
        held.leases.release(records, 1.0, 1.0)
    assert held.pending() == []
    held.session.delay_ms_max = 60_000
    held.leases.release(records[:1], 1.5, 2.0)
    held.leases.release([records[1]._replace(delivery_count=3)], 20.0, 2.0)
    assert held.pending() == [AckRun(0, 0, RELEASE, 1_500), AckRun(1, 1, RELEASE, 60_000)]


def test_requests_have_only_what_changes_in_the_session() -> None:
    other = TopicPartition("t", 1)
    found = session()
    request = found.fetch({ONLY: TOPIC_ID, other: TOPIC_ID}, wait_ms=1, records_max=1)
    assert (request.share_session_epoch, len(request.topics[0].partitions)) == (0, 2)
    found.answered()
    found.acknowledge(ONLY, AckRun(0, 0, ACCEPT), 1)
    request = found.fetch({ONLY: TOPIC_ID}, wait_ms=1, records_max=1)
    assert request.share_session_epoch == 1
    (partition,) = request.topics[0].partitions
    assert (partition.partition_index, len(partition.acknowledgement_batches)) == (0, 1)
    assert request.forgotten_topics_data[0].partitions == [1]
    assert found.oldest() == 1
    # Refused for now: sent again, with its number.
    ((name, sent),) = found.take_sent().items()
    found.answered()
    found.resend(name, sent)
    found.acknowledge(ONLY, AckRun(1, 1, RENEW), 2)
    assert found.oldest() == 1
    renewal = found.acknowledge_request()
    assert (renewal.is_renew_ack, renewal.share_session_epoch) == (True, 2)
    final = found.acknowledge_request(is_final=True)
    assert (final.is_renew_ack, final.share_session_epoch) == (False, -1)
    (batch,) = final.topics[0].partitions[0].acknowledgement_batches
    assert (batch.first_offset, batch.acknowledge_types) == (0, [1])
