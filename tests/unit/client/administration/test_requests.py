"""Where requests of `Admin` go, what is sent again, and what each item gets in the end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from ottla.client import Admin, ClientError, TimedOutError, TopicPartition
from ottla.client.administration import (
    ConfigResource,
    ConfigResourceType,
    NewTopic,
    OffsetSpec,
)
from ottla.client.errors import (
    ApiError,
    ConnectionFailedError,
    GroupIdNotFoundError,
    IllegalStateError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
)
from ottla.model import ErrorCode
from ottla.wire.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from ottla.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from ottla.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.wire.messages.metadata import MetadataResponse
from ottla.wire.schema import Message
from tests.unit.client.cluster.scripted_brokers import ScriptedBroker, metadata, run, topic

PARTITIONS = [TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("t", 2)]
LATEST = dict.fromkeys(PARTITIONS, OffsetSpec.LATEST)


class TwoBrokers:
    """Broker 1 leads partition 0 and, at first, 2; broker 2 leads 1 and is the real leader of 2. A
    leader answers with its id as the offset."""

    def __init__(self) -> None:
        self.brokers = {number: ScriptedBroker(self._answerer(number)) for number in (1, 2)}
        self.has_moved = False
        self.coordinator = 1
        self.refused: dict[str, ErrorCode] = {}

    def _answerer(self, number: int) -> Callable[[Message], Message | None]:
        return lambda request: self._answer(number, request)

    def _metadata(self) -> MetadataResponse:
        nodes = {number: broker.address for number, broker in self.brokers.items()}
        last = (2, 1) if self.has_moved else (1, 0)
        return metadata(nodes, topic("t", (1, 0), (2, 0), last))

    def _answer(self, number: int, request: Message) -> Message | None:
        if isinstance(request, ListOffsetsRequest):
            return ListOffsetsResponse(
                topics=[
                    ListOffsetsTopicResponse(
                        name=each.name,
                        partitions=[
                            self._offset(number, p.partition_index) for p in each.partitions
                        ],
                    )
                    for each in request.topics
                ]
            )
        if isinstance(request, FindCoordinatorRequest):
            (key,) = request.coordinator_keys
            host, port = self.brokers[self.coordinator].address
            found = Coordinator(key=key, node_id=self.coordinator, host=host, port=port)
            return FindCoordinatorResponse(coordinators=[found])
        if isinstance(request, DeleteGroupsRequest):
            return DeleteGroupsResponse(
                results=[self._deleted(number, each) for each in request.groups_names]
            )
        if isinstance(request, DescribeConfigsRequest):
            return DescribeConfigsResponse(
                results=[
                    DescribeConfigsResult(
                        resource_type=each.resource_type, resource_name=each.resource_name
                    )
                    for each in request.resources
                ]
            )
        assert isinstance(request, CreateTopicsRequest)
        return CreateTopicsResponse(
            topics=[
                CreatableTopicResult(name=each.name, error_code=self.refused.get(each.name, 0))
                for each in request.topics
            ]
        )

    def _offset(self, number: int, partition: int) -> ListOffsetsPartitionResponse:
        has_moved = partition == 2 and number == 1
        if has_moved:
            self.has_moved = True
        code = ErrorCode.NOT_LEADER_OR_FOLLOWER if has_moved else ErrorCode.NONE
        return ListOffsetsPartitionResponse(
            partition_index=partition, offset=number, error_code=code
        )

    def _deleted(self, number: int, group: str) -> DeletableGroupResult:
        code = ErrorCode.GROUP_ID_NOT_FOUND if group == "missing" else ErrorCode.NONE
        if number != 2:
            # The next look-up finds the one that it is now.
            self.coordinator = 2
            code = ErrorCode.NOT_COORDINATOR
        return DeletableGroupResult(group_id=group, error_code=code)

    def requests(self, number: int, kind: type[Message]) -> list[Message]:
        return [each for each in self.brokers[number].requests if isinstance(each, kind)]

    def run(self, work: Callable[[Admin], Awaitable[None]]) -> None:
        async def scenario() -> None:
            for broker in self.brokers.values():
                broker.metadata = self._metadata
                await broker.listen()
            try:
                async with Admin(
                    bootstrap_servers=str(self.brokers[1].address), retry_backoff_ms=1
                ) as admin:
                    await work(admin)
            finally:
                for broker in self.brokers.values():
                    broker.stop()

        run(scenario())


def test_leaders_are_asked_at_once_and_one_that_moved_again() -> None:
    cluster = TwoBrokers()

    async def work(admin: Admin) -> None:
        found = (await admin.list_offsets(LATEST)).all()
        assert [each.offset for each in found.values() if each] == [1, 2, 2]

    cluster.run(work)
    (first,) = cluster.requests(1, ListOffsetsRequest)
    again = cluster.requests(2, ListOffsetsRequest)
    sent = [
        [each.partition_index for topic in request.topics for each in topic.partitions]
        for request in (first, *again)
        if isinstance(request, ListOffsetsRequest)
    ]
    assert sent == [[0, 2], [1], [2]]


def test_partitions_that_do_not_exist_fail_alone() -> None:
    missing = TopicPartition("t", 7)

    async def work(admin: Admin) -> None:
        found = await admin.list_offsets({PARTITIONS[0]: OffsetSpec.LATEST, missing: 0})
        assert found[PARTITIONS[0]] is not None
        assert isinstance(found.error(missing), UnknownTopicOrPartitionError)

    TwoBrokers().run(work)


def test_a_topic_that_was_just_created_is_waited_for() -> None:
    cluster = TwoBrokers()
    looks = 0

    def metadata_with_news() -> MetadataResponse:
        nonlocal looks
        looks += 1
        known = cluster._metadata()
        if looks < 3:
            known.topics.clear()
        return known

    async def work(admin: Admin) -> None:
        cluster.brokers[1].metadata = metadata_with_news
        (await admin.list_offsets({PARTITIONS[0]: OffsetSpec.LATEST})).all()

    cluster.run(work)
    assert looks >= 3


def test_partitions_may_be_plain_tuples() -> None:
    async def work(admin: Admin) -> None:
        found = await admin.list_offsets({("t", 1): 0})  # type: ignore[dict-item]
        assert found[TopicPartition("t", 1)] is not None

    TwoBrokers().run(work)


def test_a_closed_admin_says_so() -> None:
    async def work(admin: Admin) -> None:
        await admin.list_topics()
        await admin.close()
        with pytest.raises(IllegalStateError, match="closed"):
            await admin.list_topics()
        with pytest.raises(IllegalStateError, match="closed"):
            await admin.list_offsets(LATEST)

    TwoBrokers().run(work)


def test_a_group_is_asked_of_its_coordinator_which_may_move() -> None:
    cluster = TwoBrokers()

    async def work(admin: Admin) -> None:
        found = await admin.delete_groups(["g", "missing"])
        assert list(found.succeeded) == ["g"]
        assert isinstance(found.error("missing"), GroupIdNotFoundError)

    cluster.run(work)
    assert len(cluster.requests(1, DeleteGroupsRequest)) == 1
    assert len(cluster.requests(2, DeleteGroupsRequest)) == 1


def test_an_item_that_is_refused_is_not_sent_again() -> None:
    cluster = TwoBrokers()
    cluster.refused = {"old": ErrorCode.TOPIC_ALREADY_EXISTS}

    async def work(admin: Admin) -> None:
        found = await admin.create_topics([NewTopic("old"), NewTopic("new")])
        assert list(found.succeeded) == ["new"]
        with pytest.raises(TopicAlreadyExistsError):
            found.all()
        with pytest.raises(TopicAlreadyExistsError):
            await admin.create_topic("old")

    cluster.run(work)
    assert len(cluster.requests(1, CreateTopicsRequest)) == 2


def test_many_items_are_several_requests() -> None:
    cluster = TwoBrokers()

    async def work(admin: Admin) -> None:
        found = await admin.create_topics(NewTopic(f"t{number}") for number in range(250))
        assert len(found.all()) == 250

    cluster.run(work)
    requests = cluster.requests(1, CreateTopicsRequest)
    assert [len(each.topics) for each in requests if isinstance(each, CreateTopicsRequest)] == [
        100,
        100,
        50,
    ]


def test_configs_of_a_broker_are_asked_of_itself() -> None:
    cluster = TwoBrokers()
    of_broker = ConfigResource(ConfigResourceType.BROKER, "2")
    of_nobody = ConfigResource(ConfigResourceType.BROKER, "9")
    of_topic = ConfigResource(ConfigResourceType.TOPIC, "t")

    async def work(admin: Admin) -> None:
        found = await admin.describe_configs([of_broker, of_topic, of_nobody])
        assert set(found.succeeded) == {of_broker, of_topic}
        error = found.error(of_nobody)
        assert isinstance(error, ApiError)
        assert error.code is ErrorCode.BROKER_NOT_AVAILABLE

    cluster.run(work)
    (request,) = cluster.requests(2, DescribeConfigsRequest)
    assert isinstance(request, DescribeConfigsRequest)
    assert [each.resource_name for each in request.resources] == ["2"]


def test_an_answer_that_leaves_an_item_out_is_an_error_of_the_item() -> None:
    cluster = TwoBrokers()
    cluster.brokers[1].answer = lambda _request: CreateTopicsResponse(
        topics=[CreatableTopicResult(name="a")]
    )

    async def work(admin: Admin) -> None:
        found = await admin.create_topics([NewTopic("a"), NewTopic("b")])
        assert found.get("a") is not None
        assert isinstance(found.error("b"), ApiError)

    cluster.run(work)


def test_a_broker_that_is_gone_costs_its_own_items_only() -> None:
    cluster = TwoBrokers()

    async def work(admin: Admin) -> None:
        cluster.brokers[2].stop()
        found = await admin.list_offsets(LATEST, timeout=0.5)
        assert set(found.succeeded) == {PARTITIONS[0]}
        for partition in PARTITIONS[1:]:
            error = found.error(partition)
            assert isinstance(error, ClientError)
            assert error.retriable

    cluster.run(work)


def test_silence_is_a_timeout() -> None:
    cluster = TwoBrokers()
    cluster.brokers[1].answer = lambda _request: None

    async def work(admin: Admin) -> None:
        with pytest.raises(TimedOutError, match="create topics"):
            await admin.create_topic("t", timeout=0.1)

    cluster.run(work)


def test_a_cluster_that_is_not_there_is_a_timeout_too() -> None:
    async def work(admin: Admin) -> None:
        for broker in cluster.brokers.values():
            broker.stop()
        with pytest.raises((TimedOutError, ConnectionFailedError)):
            await admin.list_topics(timeout=0.2)

    cluster = TwoBrokers()
    cluster.run(work)
