"""The state machine of a share group in a partition, against a naive model of single records."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.model import ErrorCode, KafkaError
from ottla.shares.delivery import AcknowledgedOffsets, BatchOffsets, Wish
from ottla.shares.delivery_settings import DeliverySettings
from ottla.shares.key_order import KeyOrder
from ottla.shares.record_state import AcknowledgeType, RecordState
from ottla.shares.runs import Change
from ottla.shares.share_partition import SharePartition
from ottla.shares.state_batch import StateBatch

LOCK_MS, LIMIT = 100, 3
MEMBERS = ("a", "b", "c")
LOG = [BatchOffsets(first, first + 4) for first in range(0, 100, 5)]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("fetch"), st.sampled_from(MEMBERS), st.integers(1, 12), st.booleans()),
        st.tuples(
            st.just("acknowledge"),
            st.sampled_from(MEMBERS),
            st.integers(0, 3),
            st.sampled_from([AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE]),
        ),
        st.tuples(st.just("store"), st.booleans(), st.just(0), st.just(0)),
        st.tuples(st.just("wait"), st.integers(1, 150), st.just(0), st.just(0)),
        st.tuples(st.just("leave"), st.sampled_from(MEMBERS), st.just(0), st.just(0)),
    ),
    max_size=40,
)


def made(*, delivery_limit: int = LIMIT) -> SharePartition:
    found = DeliverySettings(LOCK_MS, delivery_limit, 30)
    return SharePartition(lambda: found, start_offset=0, batches=(), now=0)


def check_runs(machine: SharePartition) -> None:
    """The runs cover all offsets in flight, once."""
    at = machine.start_offset
    for run in machine.runs:
        assert run.first == at
        assert run.first <= run.last
        at = run.last + 1
    assert at == machine.end_offset


@settings(deadline=None)
@given(STEPS)
def test_no_record_has_two_holders_and_no_finished_record_is_delivered(
    steps: list[tuple[str, object, int, object]],
) -> None:
    machine, now = made(), 0.0
    holders: dict[int, tuple[str, float]] = {}
    held: dict[str, list[tuple[int, int]]] = {member: [] for member in MEMBERS}
    finished: set[int] = set()
    changes: list[tuple[Change, set[int]]] = []
    for kind, who, number, what in steps:
        if kind == "fetch":
            offset = machine.next_offset(now)
            spans = [span for span in LOG if span.last >= offset][:3]
            wish = Wish(str(who), number, is_strict=bool(what))
            acquired = machine.acquire(wish, spans, fetch_offset=offset, now=now)
            if what:
                assert sum(each.last - each.first + 1 for each in acquired) <= number
            for each in acquired:
                assert each.delivery_count <= LIMIT
                for found in range(each.first, each.last + 1):
                    assert found not in finished
                    assert holders.get(found, ("", -1.0))[1] <= now
                    holders[found] = str(who), now + LOCK_MS
                held[str(who)].append((each.first, each.last))
        elif kind == "acknowledge" and held[str(who)]:
            first, last = held[str(who)].pop(number % len(held[str(who)]))
            batch = AcknowledgedOffsets(first, last, [2 if what == AcknowledgeType.RELEASE else 1])
            try:
                change = machine.acknowledge(str(who), [batch], now=now)
            except KafkaError:
                # The lock has ended, or another acknowledgement is being stored.
                continue
            done = set(range(first, last + 1)) if what == AcknowledgeType.ACCEPT else set()
            changes.append((change, done))
        elif kind == "store" and changes:
            change, done = changes.pop(0)
            if who:
                machine.commit(change, now=now)
                finished |= done
            else:
                machine.roll_back(change)
            for run in change.runs:
                for offset in range(run.first, run.last + 1):
                    holders[offset] = ("", now if who else holders[offset][1])
        elif kind == "wait":
            now += int(str(who))
            change = machine.expire(now)
            if change.batches:
                machine.commit(change, now=now)
        elif kind == "leave":
            change = machine.release(str(who))
            machine.commit(change, now=now)
            for run in change.runs:
                for offset in range(run.first, run.last + 1):
                    holders[offset] = "", now
        check_runs(machine)


def test_records_between_stored_batches_are_available_again() -> None:
    stored = [
        StateBatch(2, 3, RecordState.ACKNOWLEDGED, 1),
        StateBatch(6, 6, RecordState.AVAILABLE, 2),
    ]
    machine = SharePartition(DeliverySettings, start_offset=0, batches=stored, now=0)
    assert (machine.next_offset(0), machine.end_offset) == (0, 7)
    acquired = machine.acquire(Wish("a", 100), [BatchOffsets(0, 9)], fetch_offset=0, now=0)
    assert [(each.first, each.last, each.delivery_count) for each in acquired] == [
        (0, 1, 1),
        (4, 5, 1),
        (6, 6, 3),
        (7, 9, 1),
    ]


def test_start_offset_follows_the_log() -> None:
    machine = made()
    machine.acquire(Wish("a", 10), LOG[:2], fetch_offset=0, now=0)
    machine.log_start_moved(7)
    assert machine.start_offset == 7
    # The acknowledgement of records that are gone has no effect.
    change = machine.acknowledge("a", [AcknowledgedOffsets(0, 9, [1])], now=0)
    machine.commit(change, now=0)
    assert (machine.start_offset, len(machine.runs)) == (10, 0)


@pytest.mark.parametrize("count", [1, 2])
def test_lock_that_ends_counts_as_a_delivery(count: int) -> None:
    machine = made(delivery_limit=count)
    for delivery in range(1, count + 1):
        (acquired,) = machine.acquire(
            Wish("a", 1, is_strict=True), LOG[:1], fetch_offset=0, now=delivery * 1_000
        )
        assert acquired.delivery_count == delivery
        machine.commit(machine.expire(delivery * 1_000 + LOCK_MS), now=delivery * 1_000 + LOCK_MS)
    assert machine.start_offset == 1


def test_a_record_that_is_acknowledged_twice_stays_locked() -> None:
    machine = made()
    machine.acquire(Wish("a", 5), LOG[:1], fetch_offset=0, now=0)
    twice = [AcknowledgedOffsets(0, 2, [1]), AcknowledgedOffsets(2, 4, [1])]
    with pytest.raises(KafkaError) as refused:
        machine.acknowledge("a", twice, now=0)
    assert refused.value.code is ErrorCode.INVALID_RECORD_STATE
    assert machine.held_by("a") == 5


@pytest.mark.parametrize("is_ordered", [False, True])
def test_a_long_gap_between_batches_costs_nothing(is_ordered: bool) -> None:
    machine, far = made(), 10**12
    order = KeyOrder(machine) if is_ordered else None
    spans = [BatchOffsets(0, 1), BatchOffsets(far, far + 1)]
    delivered: set[int] = set()
    for now in range(20):
        offset = machine.next_offset(now)
        seen = [span for span in spans if span.last >= offset]
        if order is not None:
            order.learn(seen, [(each, b"key") for span in seen for each in span])
            order.begin()
        acquired = machine.acquire(Wish("a", 10), seen, fetch_offset=offset, now=now, order=order)
        for each in acquired:
            assert each.last - each.first < 30
            delivered |= set(range(each.first, each.last + 1))
            change = machine.acknowledge(
                "a", [AcknowledgedOffsets(each.first, each.last, [1])], now=now
            )
            machine.commit(change, now=now)
    assert {0, 1, far, far + 1} <= delivered
    assert machine.start_offset == far + 2


def test_gaps_in_flight_are_archived() -> None:
    """As after a failover, when everything between stored batches is available."""
    stored = [StateBatch(10**12, 10**12, RecordState.ACKNOWLEDGED, 1)]
    machine = SharePartition(DeliverySettings, start_offset=0, batches=stored, now=0)
    spans = [BatchOffsets(0, 1), BatchOffsets(500, 501), BatchOffsets(10**12, 10**12)]
    acquired = machine.acquire(Wish("a", 100), spans, fetch_offset=0, now=0)
    assert [(each.first, each.last) for each in acquired] == [(0, 1), (500, 501)]
    check_runs(machine)


def test_a_member_chooses_the_retry_delay_of_what_it_releases() -> None:
    found = DeliverySettings(LOCK_MS, LIMIT, 30, retry_delay_ms=1_000, retry_delay_max_ms=1_000)
    machine = SharePartition(lambda: found, start_offset=0, batches=(), now=0)
    machine.acquire(Wish("a", 10), LOG[:2], fetch_offset=0, now=0)
    release = [AcknowledgeType.RELEASE.value]
    change = machine.acknowledge(
        "a",
        [
            AcknowledgedOffsets(0, 2, release),
            AcknowledgedOffsets(3, 5, release, 0),
            AcknowledgedOffsets(6, 9, release, 5_000),
        ],
        now=0,
    )
    # Runs that are split while the change is stored keep their delay.
    machine.runs.cut(7, 8)
    machine.commit(change, now=0)
    assert [(run.first, run.last, run.due) for run in machine.runs] == [
        (0, 2, 1_000),
        (3, 5, 0),
        (6, 9, 5_000),
    ]
    assert machine.next_offset(0) == 3
    assert machine.next_deadline(0) == 1_000
    assert machine.next_offset(1_000) == 0
