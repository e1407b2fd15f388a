"""The bytes of the members of a tenant's group are translated both ways, in steps if they are
many."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from ottla.broker.network.handling import RequestContext
from ottla.broker.network.member_translation import MemberTranslation
from ottla.broker.network.pending import Pending
from ottla.model import Buffer
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.security.acls.rights import Rights
from ottla.security.principal import ANONYMOUS
from ottla.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from ottla.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from ottla.wire.schema import Message
from ottla.wire.stored.consumer_protocol import ConsumerProtocolAssignment, TopicPartition

MANY = 500
FEW = 3
CONTEXT = RequestContext(
    5, "client", "192.0.2.1", "ACME", rights=Rights(None, ANONYMOUS, "").confined("acme.")
)


class SlowClock:
    """Time passes with each look at it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses = 0

    def monotonic(self) -> float:
        self.now += 0.000_05
        return self.now

    async def sleep(self, seconds: float) -> None:
        assert seconds == 0
        self.pauses += 1
        await asyncio.sleep(0)  # noqa: TID251 - what the seam does


def assignment(topic: str, number: int) -> bytes:
    owned = [TopicPartition(topic=topic, partitions=[number])]
    return b"\0\0" + ConsumerProtocolAssignment(assigned_partitions=owned).encode(0)


def handled(answer: Any, request: Message) -> tuple[Message, SlowClock, list[Message]]:
    """The response, the clock with the pauses of the work, and the request as it was handled."""
    clock, seen = SlowClock(), list[Message]()

    def handler(_context: RequestContext, request: Message) -> Any:
        seen.append(request)
        return answer

    async def run() -> Message:
        errors: list[BaseException] = []
        tasks = Tasks(lambda _name, error: errors.append(error))
        translation = MemberTranslation(handler, cast(Clock, clock), tasks)
        found = translation.handle(CONTEXT, request)
        if isinstance(found, Pending):
            done = asyncio.Event()
            found.when_resolved(done.set)
            if isinstance(answer, Pending):
                answer.resolve(described(MANY, "acme.orders"))
            await done.wait()
            assert found.response is not None
            return found.response
        assert found is not None
        assert not errors
        return found if isinstance(found, Message) else await found

    return asyncio.run(run()), clock, seen


def sync(members: int) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id="sales",
        assignments=[
            SyncGroupRequestAssignment(
                member_id=str(number), assignment=assignment("orders", number)
            )
            for number in range(members)
        ],
    )


def described(members: int, topic: str) -> DescribeGroupsResponse:
    group = DescribedGroup(
        group_id="acme.sales",
        members=[
            DescribedGroupMember(member_id=str(number), member_assignment=assignment(topic, number))
            for number in range(members)
        ],
    )
    return DescribeGroupsResponse(groups=[group])


def of_request(request: Message) -> list[Buffer]:
    assert isinstance(request, SyncGroupRequest)
    return [bytes(each.assignment) for each in request.assignments]


def of_response(response: Message) -> list[Buffer]:
    assert isinstance(response, DescribeGroupsResponse)
    return [bytes(each.member_assignment) for each in response.groups[0].members]


def test_requests_are_translated_before_they_are_handled() -> None:
    for members in (FEW, MANY):
        answer = SyncGroupResponse(assignment=assignment("acme.orders", 1))
        response, clock, (seen,) = handled(answer, sync(members))
        assert of_request(seen) == [assignment("acme.orders", n) for n in range(members)]
        assert isinstance(response, SyncGroupResponse)
        assert bytes(response.assignment) == assignment("orders", 1)
        # The handler's own response may be shared with other requests.
        assert bytes(answer.assignment) == assignment("acme.orders", 1)
        assert bool(clock.pauses) == (members == MANY)


def test_responses_are_translated_in_steps_of_a_millisecond() -> None:
    for members in (FEW, MANY):
        shared = described(members, "acme.orders")
        response, clock, _ = handled(shared, DescribeGroupsRequest())
        assert of_response(response) == [assignment("orders", n) for n in range(members)]
        assert of_response(shared) == [assignment("acme.orders", n) for n in range(members)]
        assert (
            clock.pauses >= (MANY * 0.000_05 / 0.001) - 2 if members == MANY else not clock.pauses
        )


def test_responses_that_come_later_are_translated_too() -> None:
    response, clock, _ = handled(Pending(), DescribeGroupsRequest())
    assert of_response(response) == [assignment("orders", n) for n in range(MANY)]
    assert clock.pauses


def test_a_name_that_is_too_long_with_the_prefix_closes_the_connection() -> None:
    request = sync(MANY)
    request.assignments[-1].assignment = assignment("x" * 32_767, 0)
    with pytest.raises(ConnectionAbortedError, match="cannot encode"):
        handled(SyncGroupResponse(), request)
