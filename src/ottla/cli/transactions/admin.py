"""Transactions as the commands see them: over the wire, coordinators and leaders one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from ottla.channels import ChannelError
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.network import Address
from ottla.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from ottla.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    TransactionState,
)
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from ottla.wire.messages.metadata import MetadataResponse
from ottla.wire.schema import Message

_TRANSACTION_KEY: Final = 1


class ListedTransaction(NamedTuple):
    id: str
    state: str
    producer_id: int
    coordinator: int


class OpenTransaction(NamedTuple):
    """A transaction as the leader of a partition knows it."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    start_offset: int
    last_timestamp_ms: int


class TransactionAdmin:
    """The cluster as it was when this was made by `open`."""

    def __init__(self, admin: ClusterAdmin, metadata: MetadataResponse) -> None:
        self._admin = admin
        self.metadata = metadata
        self._addresses = {
            broker.node_id: Address(broker.host, broker.port) for broker in metadata.brokers
        }

    @classmethod
    async def open(cls, admin: ClusterAdmin) -> TransactionAdmin:
        return cls(admin, await admin.metadata())

    async def send_request(self, node_id: int, request: Message) -> Any:
        try:
            return await self._admin.send_to_node(self._addresses[node_id], request)
        except ChannelError as error:
            raise CommandError(
                f"Node {node_id} did not answer: {error}.", exit_code=ExitCode.UNREACHABLE
            ) from None

    async def list_transactions(
        self,
        *,
        states: Sequence[str] = (),
        producer_ids: Collection[int] = (),
        duration_ms: int = -1,
        pattern: str | None = None,
    ) -> list[ListedTransaction]:
        request = ListTransactionsRequest(
            state_filters=list(states),
            producer_id_filters=sorted(producer_ids),
            duration_filter=duration_ms,
            transactional_id_pattern=pattern,
        )
        found = []
        for node_id in sorted(self._addresses):
            response = await self.send_request(node_id, request)
            if response.error_code:
                raise refusal(f"list the transactions of node {node_id}", response.error_code, None)
            if response.unknown_state_filters:
                unknown = ", ".join(response.unknown_state_filters)
                raise CommandError(
                    f"There is no state {unknown}.",
                    "States are Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit and "
                    "CompleteAbort.",
                    exit_code=ExitCode.USAGE,
                )
            found += [
                ListedTransaction(
                    each.transactional_id, each.transaction_state, each.producer_id, node_id
                )
                for each in response.transaction_states
            ]
        return sorted(found)

    async def coordinator_of(self, transactional_id: str) -> int:
        request = FindCoordinatorRequest(
            key_type=_TRANSACTION_KEY, coordinator_keys=[transactional_id]
        )
        response = await self._admin.send_request(request)
        (found,) = response.coordinators
        if found.error_code:
            doing = f"find the coordinator of {transactional_id}"
            raise refusal(doing, found.error_code, found.error_message)
        return int(found.node_id)

    async def describe(self, transactional_id: str) -> TransactionState:
        coordinator = await self.coordinator_of(transactional_id)
        request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
        response = await self.send_request(coordinator, request)
        found: TransactionState = response.transaction_states[0]
        if found.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
            raise CommandError(
                f"There is no transactional id {transactional_id}.",
                "`ottla transactions list` shows those that exist.",
            )
        if found.error_code:
            raise refusal(f"describe {transactional_id}", found.error_code, None)
        return found

    # ---- leaders

    def leader_of(self, name: TopicPartition) -> int:
        for topic in self.metadata.topics:
            if topic.name == name.topic:
                for partition in topic.partitions:
                    if partition.partition_index == name.partition:
                        return int(partition.leader_id)
        raise CommandError(f"There is no partition {name.topic}-{name.partition}.")

    async def open_transactions(self, topic: str | None = None) -> list[OpenTransaction]:
        """In all partitions that have a leader."""
        if topic is not None and topic not in {each.name for each in self.metadata.topics}:
            raise CommandError(f"There is no topic {topic}.")
        by_leader: defaultdict[int, list[TopicRequest]] = defaultdict(list)
        for each in self.metadata.topics:
            if each.name is None or topic not in (None, each.name):
                continue
            indexes: defaultdict[int, list[int]] = defaultdict(list)
            for partition in each.partitions:
                indexes[partition.leader_id].append(partition.partition_index)
            for leader, of_leader in indexes.items():
                by_leader[leader].append(TopicRequest(name=each.name, partition_indexes=of_leader))
        found = []
        for leader, topics in sorted(by_leader.items()):
            if leader in self._addresses:
                response = await self.send_request(leader, DescribeProducersRequest(topics=topics))
                found += _open_in(response)
        return sorted(found)


def _open_in(response: Any) -> list[OpenTransaction]:
    return [
        OpenTransaction(
            topic.name,
            partition.partition_index,
            producer.producer_id,
            producer.producer_epoch,
            producer.coordinator_epoch,
            producer.current_txn_start_offset,
            producer.last_timestamp,
        )
        for topic in response.topics
        for partition in topic.partitions
        for producer in partition.active_producers
        if producer.current_txn_start_offset >= 0
    ]
