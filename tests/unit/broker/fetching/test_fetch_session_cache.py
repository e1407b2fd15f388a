from __future__ import annotations

import pytest

from ottla.broker.fetching import fetch_session_cache
from ottla.broker.fetching.fetch_session import FetchSession
from ottla.broker.fetching.fetch_session_cache import FetchSessionCache
from ottla.model import ErrorCode, KafkaError, NodeId
from ottla.simulation import SeededDice
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)

UNUSED_MAX = 120


def request(
    *partitions: int,
    session_id: int = 0,
    epoch: int = 0,
    offset: int = 0,
    forgotten: list[int] | None = None,
) -> FetchRequest:
    return FetchRequest(
        session_id=session_id,
        session_epoch=epoch,
        topics=[
            FetchTopic(
                topic="t",
                partitions=[
                    FetchPartition(partition=index, fetch_offset=offset) for index in partitions
                ],
            )
        ],
        forgotten_topics_data=[ForgottenTopic(topic="t", partitions=forgotten or [])],
    )


class Sessions(FetchSessionCache):
    """With a clock that the test turns, on a node with 10 partitions."""

    def __init__(self, count: int) -> None:
        self.clock = SimulatedClock()
        super().__init__(self.clock, SeededDice(1), sessions_max=count, partitions_here=lambda: 10)

    def has(self, session: FetchSession) -> bool:
        return self._sessions.get(session.id) is session


def sessions(count: int = 10) -> Sessions:
    return Sessions(count)


def opened(all_sessions: FetchSessionCache, *partitions: int) -> FetchSession:
    session = all_sessions.enter(request(*partitions))
    assert session is not None
    return session


def indexes(session: FetchSession) -> list[int]:
    return [wanted.request.partition for wanted in session.wanted.values()]


def test_a_fetch_without_a_session_leaves_none() -> None:
    all_sessions = sessions()

    assert all_sessions.enter(request(0, epoch=-1)) is None
    assert len(all_sessions) == 0


def test_a_session_remembers_what_is_wanted() -> None:
    all_sessions = sessions()
    session = opened(all_sessions, 0, 1, 2)

    again = all_sessions.enter(request(1, session_id=session.id, epoch=1, offset=7))

    assert again is session
    assert indexes(session) == [0, 1, 2]
    offsets = [wanted.request.fetch_offset for wanted in session.wanted.values()]
    assert offsets == [0, 7, 0]


def test_partitions_come_and_go_within_a_session() -> None:
    all_sessions = sessions()
    session = opened(all_sessions, 0, 1)

    all_sessions.enter(request(5, session_id=session.id, epoch=1, forgotten=[0]))

    assert indexes(session) == [1, 5]


@pytest.mark.parametrize("epoch", [2, 3, 1_000])
def test_an_epoch_out_of_turn_is_refused(epoch: int) -> None:
    all_sessions = sessions()
    session = opened(all_sessions, 0)

    with pytest.raises(KafkaError) as caught:
        all_sessions.enter(request(session_id=session.id, epoch=epoch))

    assert caught.value.code is ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_an_unknown_session_has_an_error_of_its_own() -> None:
    with pytest.raises(KafkaError) as caught:
        sessions().enter(request(session_id=99, epoch=1))

    assert caught.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_final_epoch_ends_the_session() -> None:
    all_sessions = sessions()
    session = opened(all_sessions, 0)

    assert all_sessions.enter(request(0, session_id=session.id, epoch=-1)) is None
    assert len(all_sessions) == 0


def test_a_new_session_closes_no_other_that_is_in_use() -> None:
    all_sessions = sessions(2)
    first, second = opened(all_sessions, 0), opened(all_sessions, 1)
    all_sessions.clock.advance(UNUSED_MAX)

    for _ in range(1_000):
        assert all_sessions.enter(request(2)) is None

    assert all_sessions.has(first)
    assert all_sessions.has(second)


def test_the_session_unused_for_longest_is_replaced_after_two_minutes() -> None:
    all_sessions = sessions(2)
    first, second = opened(all_sessions, 0), opened(all_sessions, 1)
    all_sessions.clock.advance(UNUSED_MAX)
    all_sessions.enter(request(session_id=first.id, epoch=1))
    all_sessions.clock.advance(1)

    assert all_sessions.enter(request(2)) is not None
    assert all_sessions.enter(request(3)) is None

    assert all_sessions.has(first)
    with pytest.raises(KafkaError) as caught:
        all_sessions.enter(request(session_id=second.id, epoch=1))
    assert caught.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_larger_session_replaces_the_smallest_that_is_older_than_two_minutes() -> None:
    all_sessions = sessions(3)
    large, small = opened(all_sessions, 0, 1, 2), opened(all_sessions, 0, 1)
    all_sessions.clock.advance(UNUSED_MAX + 1)
    young = opened(all_sessions, 0)
    for session in (large, small):
        all_sessions.enter(request(session_id=session.id, epoch=1))

    assert all_sessions.enter(request(0, 1)) is None
    assert all_sessions.enter(request(0, 1, 2)) is not None

    assert not all_sessions.has(small)
    assert all_sessions.has(young)
    # Those left are as large, or young.
    assert all_sessions.enter(request(0, 1, 2)) is None


def test_the_size_of_a_session_is_what_it_has_now() -> None:
    all_sessions = sessions(2)
    first, second = opened(all_sessions, 0, 1, 2), opened(all_sessions, 0, 1)
    all_sessions.clock.advance(UNUSED_MAX + 1)
    all_sessions.enter(request(session_id=first.id, epoch=1))
    all_sessions.enter(request(session_id=second.id, epoch=1))
    # Both are ranked by now.
    assert all_sessions.enter(request(0)) is None
    for epoch in range(2, 302):
        forgotten, named = ([5], []) if epoch % 2 else ([], [5])
        update = request(*named, session_id=second.id, epoch=epoch, forgotten=forgotten)
        all_sessions.enter(update)
    all_sessions.enter(request(session_id=first.id, epoch=2, forgotten=[1, 2]))
    assert all_sessions.partition_count == 3

    assert all_sessions.enter(request(0, 1)) is not None

    assert not all_sessions.has(first)
    assert all_sessions.has(second)


def test_a_follower_replaces_the_consumer_unused_for_longest_but_no_follower() -> None:
    all_sessions = sessions(2)
    follower = all_sessions.enter(request(0), follower=NodeId(2))
    consumer = opened(all_sessions, 0, 1)
    assert follower is not None

    assert all_sessions.enter(request(0), follower=NodeId(3)) is not None
    assert all_sessions.enter(request(0), follower=NodeId(3)) is None
    all_sessions.clock.advance(UNUSED_MAX)
    # A consumer replaces no follower in use, whatever it asks for.
    assert all_sessions.enter(request(0, 1, 2)) is None

    assert all_sessions.has(follower)
    assert not all_sessions.has(consumer)


def test_who_claims_to_be_a_follower_closes_only_that_followers_sessions() -> None:
    all_sessions = sessions(1_000)
    follower = all_sessions.enter(request(0), follower=NodeId(2))
    claimed = all_sessions.enter(request(0), follower=NodeId(3))
    consumers = [opened(all_sessions, 0) for _ in range(900)]
    assert follower is not None
    assert claimed is not None

    for _ in range(2_000):
        all_sessions.enter(request(0, 1), follower=NodeId(3))

    assert all(map(all_sessions.has, (follower, *consumers)))
    assert not all_sessions.has(claimed)
    assert len(all_sessions) < 1_000


def test_a_session_has_few_more_partitions_than_the_node() -> None:
    all_sessions = sessions()
    assert all_sessions.enter(request(*range(1_011))) is None
    session = opened(all_sessions, *range(1_010))

    with pytest.raises(KafkaError) as caught:
        all_sessions.enter(request(2_000, session_id=session.id, epoch=1))

    assert caught.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert len(all_sessions) == all_sessions.partition_count == 0


def test_partitions_of_all_sessions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_session_cache, "_PARTITIONS_MAX", 20)
    all_sessions = sessions()
    first, second = opened(all_sessions, *range(10)), opened(all_sessions, *range(9))

    assert all_sessions.enter(request(0, 1)) is None
    assert all_sessions.enter(request(0, 1), follower=NodeId(2)) is not None
    assert not all_sessions.has(first)
    with pytest.raises(KafkaError):
        all_sessions.enter(request(*range(30), session_id=second.id, epoch=1))
    assert all_sessions.partition_count == 2
    all_sessions.clock.advance(UNUSED_MAX + 1)
    assert all_sessions.enter(request(*range(20))) is not None
    assert len(all_sessions) == 1


def test_a_closed_session_leaves_nothing() -> None:
    all_sessions = sessions(4)
    session = opened(all_sessions, 0)
    for _ in range(1_000):
        again = all_sessions.enter(request(0, 1, session_id=session.id), follower=NodeId(2))
        assert again is not None
        session = again
        all_sessions.clock.advance(1)
    all_sessions.enter(request(session_id=session.id, epoch=-1))

    assert len(all_sessions) == all_sessions.partition_count == 0
    assert not all_sessions._of_follower
    assert not len(all_sessions._privileged)


def test_without_room_for_sessions_every_fetch_is_a_full_one() -> None:
    assert sessions(0).enter(request(0)) is None


def test_who_was_served_is_served_last() -> None:
    session = opened(sessions(), 0, 1, 2)

    session.serve_last(next(iter(session.wanted.values())))

    assert indexes(session) == [1, 2, 0]


def test_only_changes_are_sent_again() -> None:
    wanted = next(iter(opened(sessions(), 0).wanted.values()))
    quiet = PartitionData(high_watermark=5, last_stable_offset=5, log_start_offset=0, records=b"")

    assert wanted.has_changes(quiet)
    assert not wanted.has_changes(quiet)
    assert wanted.has_changes(PartitionData(high_watermark=5, records=b"x"))
    assert wanted.has_changes(quiet)
    assert wanted.has_changes(PartitionData(error_code=1, high_watermark=-1, records=b""))


def test_fetch_in_another_leader_epoch_receives_the_offsets_again() -> None:
    session = opened(sessions(), 0)
    wanted = next(iter(session.wanted.values()))
    quiet = PartitionData(high_watermark=5, last_stable_offset=5, log_start_offset=0, records=b"")
    assert wanted.has_changes(quiet)
    again = request(0, session_id=session.id, epoch=1)
    session.update(again)
    assert not wanted.has_changes(quiet)

    again.topics[0].partitions[0] = FetchPartition(partition=0, current_leader_epoch=8)
    session.update(again)

    assert wanted.has_changes(quiet)


def test_the_epoch_starts_over_at_one() -> None:
    all_sessions = sessions()
    session = opened(all_sessions, 0)
    session.epoch = 2**31 - 1

    all_sessions.enter(request(session_id=session.id, epoch=2**31 - 1))

    assert session.epoch == 1
