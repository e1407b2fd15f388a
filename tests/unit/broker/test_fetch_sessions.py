from __future__ import annotations

import pytest

from ottla.broker.fetch_sessions import FetchSession, FetchSessions
from ottla.model import ErrorCode, KafkaError
from ottla.simulation.dice import SeededDice
from ottla.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)


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


def sessions(count: int = 10) -> FetchSessions:
    return FetchSessions(SeededDice(1), sessions_max=count)


def opened(all_sessions: FetchSessions, *partitions: int) -> FetchSession:
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


def test_an_unknown_session_is_told_apart() -> None:
    with pytest.raises(KafkaError) as caught:
        sessions().enter(request(session_id=99, epoch=1))

    assert caught.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_final_epoch_ends_the_session() -> None:
    all_sessions = sessions()
    session = opened(all_sessions, 0)

    assert all_sessions.enter(request(0, session_id=session.id, epoch=-1)) is None
    assert len(all_sessions) == 0


def test_the_session_idle_longest_makes_room() -> None:
    all_sessions = sessions(2)
    first, second = opened(all_sessions, 0), opened(all_sessions, 1)
    all_sessions.enter(request(session_id=first.id, epoch=1))

    opened(all_sessions, 2)

    all_sessions.enter(request(session_id=first.id, epoch=2))
    with pytest.raises(KafkaError):
        all_sessions.enter(request(session_id=second.id, epoch=1))


def test_without_room_for_sessions_every_fetch_is_a_full_one() -> None:
    assert sessions(0).enter(request(0)) is None


def test_who_was_served_is_served_last() -> None:
    session = opened(sessions(), 0, 1, 2)

    session.serve_last(next(iter(session.wanted.values())))

    assert indexes(session) == [1, 2, 0]


def test_only_news_is_told_again() -> None:
    wanted = next(iter(opened(sessions(), 0).wanted.values()))
    quiet = PartitionData(high_watermark=5, last_stable_offset=5, log_start_offset=0, records=b"")

    assert wanted.has_news(quiet)
    assert not wanted.has_news(quiet)
    assert wanted.has_news(PartitionData(high_watermark=5, records=b"x"))
    assert wanted.has_news(quiet)
    assert wanted.has_news(PartitionData(error_code=1, high_watermark=-1, records=b""))


def test_who_asks_in_another_leader_epoch_is_told_again() -> None:
    session = opened(sessions(), 0)
    wanted = next(iter(session.wanted.values()))
    quiet = PartitionData(high_watermark=5, last_stable_offset=5, log_start_offset=0, records=b"")
    assert wanted.has_news(quiet)
    again = request(0, session_id=session.id, epoch=1)
    session.update(again)
    assert not wanted.has_news(quiet)

    again.topics[0].partitions[0] = FetchPartition(partition=0, current_leader_epoch=8)
    session.update(again)

    assert wanted.has_news(quiet)


def test_the_epoch_starts_over_at_one() -> None:
    all_sessions = sessions()
    session = opened(all_sessions, 0)
    session.epoch = 2**31 - 1

    all_sessions.enter(request(session_id=session.id, epoch=2**31 - 1))

    assert session.epoch == 1
