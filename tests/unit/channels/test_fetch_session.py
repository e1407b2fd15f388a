"""A session's requests name what changed, and nothing else."""

from __future__ import annotations

from ottla.channels.fetch_session import FetcherSession, PartitionKey
from ottla.model import ErrorCode, Uuid
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse

A, B = Uuid(b"a" * 16), Uuid(b"b" * 16)


def filled(session: FetcherSession, *keys: tuple[Uuid, int]) -> FetchRequest:
    request = FetchRequest()
    session.fill(
        request,
        [(PartitionKey(*key), FetchPartition(partition=key[1])) for key in keys],
    )
    return request


def named(request: FetchRequest) -> list[tuple[Uuid, int]]:
    return [
        (topic.topic_id, each.partition) for topic in request.topics for each in topic.partitions
    ]


def forgotten(request: FetchRequest) -> list[tuple[Uuid, int]]:
    return [
        (topic.topic_id, each)
        for topic in request.forgotten_topics_data
        for each in topic.partitions
    ]


def place(request: FetchRequest) -> tuple[int, int]:
    return request.session_id, request.session_epoch


def test_the_first_request_opens_a_session_and_the_next_ones_count() -> None:
    session = FetcherSession()
    assert session.is_new
    assert place(filled(session, (A, 0), (A, 1), (B, 0))) == (0, 0)
    assert session.answered(FetchResponse(session_id=7))
    second = filled(session)
    assert place(second) == (7, 1)
    assert named(second) == []
    session.answered(FetchResponse(session_id=7))
    third = filled(session, (A, 1))
    assert place(third) == (7, 2)
    assert named(third) == [(A, 1)]


def test_partitions_of_a_topic_go_together() -> None:
    request = filled(FetcherSession(), (A, 0), (B, 0), (A, 1))
    assert named(request) == [(A, 0), (A, 1), (B, 0)]


def test_a_partition_that_is_no_longer_fetched_is_named_once() -> None:
    session = FetcherSession()
    filled(session, (A, 0), (A, 1))
    session.answered(FetchResponse(session_id=7))
    session.forget(PartitionKey(A, 1))
    session.forget(PartitionKey(B, 9))
    assert forgotten(filled(session)) == [(A, 1)]
    assert forgotten(filled(session)) == []
    assert session.partition_count == 1


def test_a_partition_that_is_fetched_again_at_once_is_not_forgotten() -> None:
    session = FetcherSession()
    filled(session, (A, 0))
    session.answered(FetchResponse(session_id=7))
    session.forget(PartitionKey(A, 0))
    request = filled(session, (A, 0))
    assert (named(request), forgotten(request)) == ([(A, 0)], [])


def test_a_session_that_the_leader_lost_begins_anew() -> None:
    session = FetcherSession()
    filled(session, (A, 0), (A, 1))
    session.answered(FetchResponse(session_id=7))
    session.forget(PartitionKey(A, 1))
    lost = FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert not session.answered(lost)
    assert session.is_new
    request = filled(session, (A, 0))
    assert place(request) == (7, 0), "the old session ends, if it is still there"
    assert forgotten(request) == []
    session.answered(FetchResponse(session_id=8))
    assert place(filled(session)) == (8, 1)


def test_a_leader_without_room_for_sessions_receives_full_fetches() -> None:
    session = FetcherSession()
    filled(session, (A, 0))
    assert session.answered(FetchResponse(session_id=0))
    assert session.is_new


def test_the_epoch_goes_round() -> None:
    session = FetcherSession()
    filled(session, (A, 0))
    session.answered(FetchResponse(session_id=7))
    session._epoch = 2**31 - 1
    filled(session)
    session.answered(FetchResponse(session_id=7))
    assert place(filled(session)) == (7, 1)


def test_the_last_request_ends_the_session() -> None:
    session = FetcherSession()
    assert not session.end(FetchRequest())
    filled(session, (A, 0))
    session.answered(FetchResponse(session_id=7))
    last = FetchRequest()
    assert session.end(last)
    assert place(last) == (7, -1)
    assert place(filled(session, (A, 0))) == (0, 0)
