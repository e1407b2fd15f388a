"""Sends ISR changes to the active controller in batches: one AlterPartition request at a time.

Changes that are proposed while a request is in flight go into the next one. A request that is lost
or fails as a whole is sent again after a short delay; the controller rejects outdated changes.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Final, NamedTuple, TypeAlias

from ottla.channels import ChannelError
from ottla.model import ErrorCode, KafkaError, NodeId, Uuid
from ottla.replication.isr_change import (
    CommittedIsr,
    IsrChange,
    ProposingPartition,
)
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.tasks import Tasks
from ottla.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    BrokerState,
)

_log = logging.getLogger(__name__)

_RETRY_MS: Final = 50
_RETRY_JITTER: Final = 0.2

Send: TypeAlias = Callable[[AlterPartitionRequest], Awaitable[AlterPartitionResponse]]
_Key: TypeAlias = tuple[Uuid, int]


class _Proposal(NamedTuple):
    partition: ProposingPartition
    change: IsrChange


class ControllerIsrChanges:
    """Implements `IsrChanges`. Owned by the node's event loop; its only task belongs to `tasks`.

    `send` sends to the active controller, and raises ChannelError or KafkaError if it cannot.
    """

    def __init__(
        self,
        node_id: NodeId,
        broker_epoch: Callable[[], int],
        send: Send,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
    ) -> None:
        self._node_id = node_id
        self._broker_epoch = broker_epoch
        self._send = send
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._unsent: dict[_Key, _Proposal] = {}
        self._is_sending = False
        # The changes that the controller refused.
        self.refused = 0

    def propose(self, partition: ProposingPartition, change: IsrChange) -> None:
        self._unsent[change.topic_id, change.partition] = _Proposal(partition, change)
        if not self._is_sending:
            self._is_sending = True
            self._tasks.start("alter partition", self._send_all())

    async def _send_all(self) -> None:
        try:
            while self._unsent:
                # Batches everything proposed in the same iteration of the event loop.
                await self._clock.sleep(0)
                sent, self._unsent = self._unsent, {}
                is_answered = False
                try:
                    is_answered = await self._send_together(sent)
                except Exception:
                    # A partition whose proposal is lost would never propose again.
                    _log.exception("changing ISRs failed")
                if not is_answered:
                    # A newer proposal replaces the older one of the same partition.
                    self._unsent = {**sent, **self._unsent}
                if self._unsent:
                    delay = self._dice.jitter(_RETRY_MS, fraction=_RETRY_JITTER)
                    await self._clock.sleep(delay / 1_000)
        finally:
            self._is_sending = False

    async def _send_together(self, sent: dict[_Key, _Proposal]) -> bool:
        """Sends one request and calls back each partition. False if the request failed."""
        changes = [proposal.change for proposal in sent.values()]
        try:
            response = await self._send(
                _request(changes, node_id=self._node_id, broker_epoch=self._broker_epoch())
            )
        except (ChannelError, KafkaError) as error:
            _log.info("cannot reach the controller to change ISRs: %s", error)
            return False
        if response.error_code != ErrorCode.NONE:
            _log.info("the controller refused to change ISRs: error %d", response.error_code)
            return False
        answers = {
            (topic.topic_id, each.partition_index): each
            for topic in response.topics
            for each in topic.partitions
        }
        for key, proposal in sent.items():
            answer = answers.get(key)
            self.refused += answer is None or answer.error_code != ErrorCode.NONE
            _report_result(proposal, answer)
        return True


def _report_result(proposal: _Proposal, answer: AlterPartitionResponsePartitionData | None) -> None:
    partition, change = proposal
    if answer is None:
        partition.isr_change_refused(change, ErrorCode.UNKNOWN_SERVER_ERROR)
    elif answer.error_code != ErrorCode.NONE:
        partition.isr_change_refused(change, answer.error_code)
    else:
        partition.isr_change_committed(
            change, CommittedIsr(answer.leader_epoch, answer.partition_epoch, tuple(answer.isr))
        )


def _request(
    changes: Collection[IsrChange], *, node_id: NodeId, broker_epoch: int
) -> AlterPartitionRequest:
    topics: dict[Uuid, AlterPartitionRequestTopicData] = {}
    for change in changes:
        topic = topics.get(change.topic_id)
        if topic is None:
            topic = AlterPartitionRequestTopicData(topic_id=change.topic_id)
            topics[change.topic_id] = topic
        topic.partitions.append(
            AlterPartitionRequestPartitionData(
                partition_index=change.partition,
                leader_epoch=change.leader_epoch,
                partition_epoch=change.partition_epoch,
                new_isr_with_epochs=[
                    BrokerState(broker_id=each.id, broker_epoch=each.broker_epoch)
                    for each in change.new_isr
                ],
            )
        )
    return AlterPartitionRequest(
        broker_id=node_id, broker_epoch=broker_epoch, topics=list(topics.values())
    )
