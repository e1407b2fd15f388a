"""The APIs of share groups, through their bytes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ottla.coordinator.groups.share.group import ShareGroup
from ottla.coordinator.groups.share.heartbeats import ShareHeartbeats
from ottla.model import ErrorCode, Offset, TimestampMs, Uuid
from ottla.storage.files.file_slice import FileSlice
from ottla.wire.messages import share_acknowledge as ack_wire
from ottla.wire.messages import share_fetch as fetch_wire
from ottla.wire.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from ottla.wire.messages.delete_groups import DeleteGroupsRequest
from ottla.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.share_group_describe import ShareGroupDescribeRequest
from ottla.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.wire.records import Record, build_batch, iterate_batches, iterate_records
from ottla.wire.schema import Message
from tests.support.nodes.one_node import OneNode, StartNode

GROUP = "g"
CONFIGS = {
    "offsets.topic.num.partitions": "2",
    "share.coordinator.state.topic.num.partitions": "2",
}
ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
_GROUP_RESOURCE = 32


class Sharing:
    """A node with a topic of one partition and records, and a group that begins at the first."""

    def __init__(self, node: OneNode, **configs: str) -> None:
        self.node = node
        node.create_topic("t")
        node.send_request(FindCoordinatorRequest(coordinator_keys=[GROUP]), 6)
        self.configure(**{"share.auto.offset.reset": "earliest", **configs})
        self.topic_id: Uuid = node.image.topics.by_name["t"].id
        self.epochs: dict[str, int] = {}

    def configure(self, **configs: str) -> None:
        resource = AlterConfigsResource(
            resource_type=_GROUP_RESOURCE,
            resource_name=GROUP,
            configs=[AlterableConfig(name=name, value=value) for name, value in configs.items()],
        )
        (answer,) = self.ask(IncrementalAlterConfigsRequest(resources=[resource]), 1).responses
        assert not answer.error_code, answer

    def ask(self, request: Message, version: int) -> Any:
        return self.node.run(self._ask(request, version))

    async def _ask(self, request: Message, version: int) -> Any:
        """Answers that wait get time."""
        task = asyncio.ensure_future(self.node.answer(request, version))
        for _ in range(400):
            for _ in range(20):
                await asyncio.sleep(0)  # noqa: TID251 - lets the node's tasks run
            if task.done():
                break
            self.node.clock.advance(0.05)
        return task.result()

    def append(self, *values: bytes) -> None:
        records = [
            Record(Offset(index), TimestampMs(0), None, value) for index, value in enumerate(values)
        ]
        self.node.append("t", build_batch(records))

    def append_keys(self, *keys: bytes | None) -> None:
        records = [
            Record(Offset(index), TimestampMs(0), key, b"v") for index, key in enumerate(keys)
        ]
        self.node.append("t", build_batch(records))

    def join(self, member: str = "m") -> Any:
        return self.ask(
            ShareGroupHeartbeatRequest(
                group_id=GROUP, member_id=member, subscribed_topic_names=["t"]
            ),
            1,
        )

    def fetch(self, member: str = "m", *, strict: int | None = None) -> Any:
        """The partition's data in the response."""
        epoch = self.epochs.get(member, 0)
        self.epochs[member] = epoch + 1
        topic = fetch_wire.FetchTopic(
            topic_id=self.topic_id, partitions=[fetch_wire.FetchPartition(partition_index=0)]
        )
        request = fetch_wire.ShareFetchRequest(
            group_id=GROUP,
            member_id=member,
            share_session_epoch=epoch,
            max_wait_ms=100,
            max_records=500 if strict is None else strict,
            batch_size=500,
            share_acquire_mode=strict is not None,
            topics=[topic],
        )
        response = self.ask(request, 2)
        assert not response.error_code, response
        return response.responses[0].partitions[0] if response.responses else None

    def acquired(self, member: str = "m", *, strict: int | None = None) -> list[tuple[int, ...]]:
        found = self.fetch(member, strict=strict)
        if found is None:
            return []
        assert not found.error_code, found
        return [
            (each.first_offset, each.last_offset, each.delivery_count)
            for each in found.acquired_records
        ]

    def acknowledge(self, first: int, last: int, *types: int, member: str = "m") -> int:
        epoch = self.epochs[member]
        self.epochs[member] = epoch + 1
        batch = ack_wire.AcknowledgementBatch(
            first_offset=first, last_offset=last, acknowledge_types=list(types)
        )
        partition = ack_wire.AcknowledgePartition(
            partition_index=0, acknowledgement_batches=[batch]
        )
        topic = ack_wire.AcknowledgeTopic(topic_id=self.topic_id, partitions=[partition])
        response = self.ask(
            ack_wire.ShareAcknowledgeRequest(
                group_id=GROUP,
                member_id=member,
                share_session_epoch=epoch,
                is_renew_ack=RENEW in types,
                topics=[topic],
            ),
            2,
        )
        assert not response.error_code, response
        code: int = response.responses[0].partitions[0].error_code
        return code

    def described(self) -> tuple[int, int]:
        """The start offset and the lag."""
        group = DescribeShareGroupOffsetsRequestGroup(group_id=GROUP, topics=None)
        (found,) = self.ask(DescribeShareGroupOffsetsRequest(groups=[group]), 1).groups
        partition = found.topics[0].partitions[0]
        return partition.start_offset, partition.lag


@pytest.fixture
def sharing(start_node: StartNode) -> Sharing:
    return Sharing(start_node(configs=CONFIGS))


def test_first_member_gets_the_partition_when_its_state_is_initialized(sharing: Sharing) -> None:
    response = sharing.join()
    assert response.error_code == 0
    assert [each.partitions for each in response.assignment.topic_partitions] == [[0]]


def test_records_are_delivered_once_until_their_lock_ends(sharing: Sharing) -> None:
    sharing.append(b"a", b"b")
    sharing.join()
    found = sharing.fetch()
    assert [record.value for record in iterate_records(bytes(found.records))] == [b"a", b"b"]
    assert sharing.acquired("other") == []
    sharing.node.clock.advance(31)
    assert sharing.acquired("other") == [(0, 1, 2)]


def test_acknowledged_records_are_not_delivered_again(sharing: Sharing) -> None:
    sharing.append(b"a", b"b", b"c")
    sharing.join()
    assert sharing.acquired() == [(0, 2, 1)]
    assert sharing.acknowledge(0, 2, ACCEPT, RELEASE, REJECT) == 0
    assert sharing.acquired("other") == [(1, 1, 2)]
    assert sharing.described()[1] == 1


def test_acknowledgement_of_a_record_that_is_not_locked_is_refused(sharing: Sharing) -> None:
    sharing.append(b"a")
    sharing.join()
    sharing.acquired()
    assert sharing.acknowledge(0, 0, ACCEPT) == 0
    sharing.append(b"b")
    sharing.acquired("other")
    assert sharing.acknowledge(1, 1, ACCEPT) == ErrorCode.INVALID_RECORD_STATE


def test_renewed_lock_lasts_longer(sharing: Sharing) -> None:
    sharing.append(b"a")
    sharing.join()
    sharing.acquired()
    sharing.node.clock.advance(20)
    assert sharing.acknowledge(0, 0, RENEW) == 0
    sharing.node.clock.advance(20)
    assert sharing.acquired("other") == []
    assert sharing.acknowledge(0, 0, ACCEPT) == 0


def test_record_is_archived_at_the_delivery_limit(start_node: StartNode) -> None:
    sharing = Sharing(start_node(configs=CONFIGS), **{"share.delivery.count.limit": "2"})
    sharing.append(b"a")
    sharing.join()
    for count in (1, 2):
        assert sharing.acquired() == [(0, 0, count)]
        assert sharing.acknowledge(0, 0, RELEASE) == 0
    assert sharing.acquired() == []
    assert sharing.described()[1] == 0


def test_strict_fetch_gets_no_more_records_than_it_asked_for(sharing: Sharing) -> None:
    sharing.append(*[b"a"] * 10)
    sharing.join()
    assert sharing.acquired(strict=3) == [(0, 2, 1)]
    assert sharing.acquired("other", strict=3) == [(3, 5, 1)]
    # A whole batch of the log, without a strict limit.
    assert sharing.acquired() == [(6, 9, 1)]


def test_records_of_a_closed_session_are_released(sharing: Sharing) -> None:
    sharing.append(b"a")
    sharing.join()
    sharing.acquired()
    session = sharing.node.broker.sharing.sessions.require(GROUP, "m", -1)
    sharing.acquired("other")
    sharing.node.broker.sharing.sessions.end(session)
    assert sharing.acquired("other") == [(0, 0, 2)]


def test_released_record_waits_for_its_retry_delay(start_node: StartNode) -> None:
    sharing = Sharing(
        start_node(configs=CONFIGS),
        **{"ottla.share.retry.delay.ms": "1000", "ottla.share.retry.delay.max.ms": "60000"},
    )
    sharing.append(b"a")
    sharing.join()
    for delay in (1, 2, 4):
        sharing.acquired()
        assert sharing.acknowledge(0, 0, RELEASE) == 0
        sharing.node.clock.advance(delay - 0.3)
        assert sharing.acquired() == []
        sharing.node.clock.advance(0.3)


def test_state_survives_the_loss_of_the_leaders_memory(sharing: Sharing) -> None:
    sharing.append(b"a", b"b", b"c")
    sharing.join()
    sharing.acquired()
    assert sharing.acknowledge(0, 2, ACCEPT, RELEASE, ACCEPT) == 0
    (shared,) = sharing.node.broker.sharing.shared.all
    shared.close(shared.partition.not_leader())
    assert sharing.acquired("other") == [(1, 1, 2)]


def test_offsets_are_reset_without_members_and_the_group_is_deleted(sharing: Sharing) -> None:
    sharing.append(b"a", b"b", b"c")
    sharing.join()
    partition = AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=2)
    topic = AlterShareGroupOffsetsRequestTopic(topic_name="t", partitions=[partition])
    alter = AlterShareGroupOffsetsRequest(group_id=GROUP, topics=[topic])
    assert sharing.ask(alter, 0).error_code == ErrorCode.NON_EMPTY_GROUP
    leave = ShareGroupHeartbeatRequest(group_id=GROUP, member_id="m", member_epoch=-1)
    assert sharing.ask(leave, 1).error_code == 0
    assert sharing.ask(alter, 0).error_code == 0
    assert sharing.described() == (2, 1)
    (result,) = sharing.ask(DeleteGroupsRequest(groups_names=[GROUP]), 2).results
    assert result.error_code == 0
    (group,) = sharing.ask(ShareGroupDescribeRequest(group_ids=[GROUP]), 1).groups
    assert group.error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_records_of_one_key_are_with_one_member_at_a_time(start_node: StartNode) -> None:
    sharing = Sharing(start_node(configs=CONFIGS), **{"ottla.share.key.order": "true"})
    sharing.append_keys(b"a", b"b", b"a", None, b"b", b"a")
    sharing.join()
    assert sharing.acquired("one", strict=1) == [(0, 0, 1)]
    # The other member gets no later record of the first one's key, but all others.
    assert sharing.acquired("two") == [(1, 1, 1), (3, 4, 1)]
    assert sharing.acknowledge(0, 0, RELEASE, member="one") == 0
    assert sharing.acquired("one", strict=1) == [(0, 0, 2)]
    assert sharing.acknowledge(0, 0, ACCEPT, member="one") == 0
    assert sharing.acquired("two") == [(2, 2, 1), (5, 5, 1)]


def test_member_of_a_fair_group_locks_its_part_only(start_node: StartNode) -> None:
    configs = {"ottla.share.fair": "true", "share.partition.max.record.locks": "100"}
    sharing = Sharing(start_node(configs=CONFIGS), **configs)
    sharing.append(*[b"a"] * 200)
    sharing.join()
    assert sharing.acquired("one", strict=1) == [(0, 0, 1)]
    assert sharing.acquired("two", strict=1) == [(1, 1, 1)]
    assert sharing.acquired("one") == [(2, 50, 1)]
    assert sharing.acquired("one") == []
    assert sharing.acquired("two") == [(51, 99, 1)]


def test_dead_records_are_written_to_the_topic_of_the_group(start_node: StartNode) -> None:
    sharing = Sharing(
        start_node(configs=CONFIGS),
        **{
            "errors.deadletterqueue.topic.name": "dlq.t",
            "errors.deadletterqueue.copy.record.enable": "true",
            "share.delivery.count.limit": "2",
        },
    )
    node = sharing.node
    node.create_topic("dlq.t", configs={"errors.deadletterqueue.group.enable": "true"})
    update = FeatureUpdateKey(feature="share.version", max_version_level=2, upgrade_type=1)
    assert not node.send_to_controller(
        UpdateFeaturesRequest(feature_updates=[update]), 1
    ).error_code
    sharing.append(b"bad", b"good", b"tired")
    sharing.join()
    sharing.acquired()
    assert sharing.acknowledge(0, 2, REJECT, ACCEPT, RELEASE) == 0
    sharing.acquired()
    assert sharing.acknowledge(2, 2, RELEASE) == 0
    assert sharing.described()[1] == 0
    log = node.log("dlq.t")
    found = log.read(0, bytes_max=1 << 20, upper_offset=log.log_end_offset)
    assert found is not None
    data = found.read()
    records = [each for at, _ in iterate_batches(data) for each in iterate_records(data, at)]
    assert [record.value for record in records] == [b"bad", b"tired"]
    headers = [dict(record.headers) for record in records]
    assert headers[0]["__dlq.errors.topic"] == b"t"
    assert headers[0]["__dlq.errors.message"] == b"Offset rejected by client."
    assert [each["__dlq.errors.offset"] for each in headers] == [b"0", b"2"]
    assert [each["__dlq.errors.delivery.count"] for each in headers] == [b"1", b"2"]


def test_a_fetch_whose_time_is_up_while_it_waits_for_the_disk_is_answered(
    sharing: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharing.append(b"a")
    sharing.join()
    read_cached, is_cold = FileSlice.read_cached, [True]

    def read(self: FileSlice) -> Any:
        return None if is_cold and is_cold.pop() else read_cached(self)

    monkeypatch.setattr(FileSlice, "read_cached", read)
    monkeypatch.setattr(FileSlice, "warm", lambda _: sharing.node.clock.advance(1))
    assert sharing.acquired() == []
    assert not is_cold
    assert sharing.acquired() == [(0, 0, 1)]


def test_heartbeats_look_at_all_targets_only_after_a_change(
    sharing: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    find = ShareHeartbeats._find_unassigned

    def counted(self: ShareHeartbeats, group: ShareGroup) -> bool:
        looks.append(group)
        return find(self, group)

    monkeypatch.setattr(ShareHeartbeats, "_find_unassigned", counted)
    epoch = sharing.join().member_epoch

    def heartbeats(count: int) -> int:
        """How often all targets were looked at."""
        nonlocal epoch
        looks.clear()
        for _ in range(count):
            request = ShareGroupHeartbeatRequest(group_id=GROUP, member_id="m", member_epoch=epoch)
            response = sharing.ask(request, 1)
            assert not response.error_code
            epoch = response.member_epoch
        return len(looks)

    assert heartbeats(5) == 1
    assert heartbeats(5) == 0
    sharing.join("other")
    sharing.node.clock.advance(2)
    assert heartbeats(5) == 1
