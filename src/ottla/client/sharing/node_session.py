"""A share session with one node, without I/O: its requests and what their responses mean.

    no session ──ShareFetch, epoch 0──▶ session ──epoch 1, 2, ...──▶ ...
        ▲                                                          │
        └──────── an error of the session or of the connection ────┘

The node stores the session's partitions, so a request has only those that are added or have
acknowledgements. A session that ends releases all records that were locked in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.client.sharing.acknowledgements import (
    AckRun,
    AckRuns,
    acknowledge_batches,
    fetch_batches,
)
from ottla.client.sharing.properties import ShareConsumerSettings
from ottla.model import TopicPartition, Uuid
from ottla.shares.record_state import AcknowledgeType
from ottla.wire.messages import share_acknowledge as ack_wire
from ottla.wire.messages import share_fetch as fetch_wire

FIRST_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
_EPOCH_MAX: Final = 2**31 - 1


class NodeShareSession:
    """Belongs to a share consumer. One request is in flight at a time."""

    def __init__(self, node_id: int, settings: ShareConsumerSettings, member_id: str) -> None:
        self.node_id = node_id
        self.epoch = FIRST_EPOCH
        # The longest retry delay that the node takes; 0 if it takes none, as with Apache Kafka.
        self.delay_ms_max = 0
        # Changes when the session begins again.
        self.incarnation = 0
        # Acknowledgements to be sent, and those in flight.
        self.pending: dict[TopicPartition, AckRuns] = {}
        self.renewals: dict[TopicPartition, AckRuns] = {}
        self.sent: dict[TopicPartition, AckRuns] = {}
        self._settings = settings
        self._member_id = member_id
        self._partitions: dict[TopicPartition, Uuid] = {}
        # The ids of topics, under which their partitions were fetched.
        self._topic_ids: dict[str, Uuid] = {}
        self._names: dict[Uuid, str] = {}

    @property
    def is_new(self) -> bool:
        return self.epoch == FIRST_EPOCH

    # ---- acknowledgements

    def acknowledge(self, name: TopicPartition, run: AckRun, number: int) -> None:
        """Adds an acknowledgement; numbers rise."""
        waiting = self.renewals if run.kind is AcknowledgeType.RENEW else self.pending
        runs = waiting.get(name)
        if runs is None:
            runs = waiting[name] = AckRuns(number)
        runs.add(run)

    @property
    def has_pending(self) -> bool:
        return bool(self.pending or self.renewals)

    def oldest(self) -> int | None:
        """The number of the oldest acknowledgement that is not answered."""
        numbers = [
            runs.number
            for waiting in (self.pending, self.renewals, self.sent)
            for runs in waiting.values()
        ]
        return min(numbers, default=None)

    def resend(self, name: TopicPartition, runs: AckRuns) -> None:
        """Acknowledgements that the node could not store now."""
        for run in runs.runs:
            self.acknowledge(name, run, runs.number)
        waiting = self.renewals if runs.runs[0].kind is AcknowledgeType.RENEW else self.pending
        waiting[name].number = min(waiting[name].number, runs.number)

    # ---- requests

    def fetch(
        self,
        wanted: Mapping[TopicPartition, Uuid],
        *,
        wait_ms: int,
        records_max: int,
    ) -> fetch_wire.ShareFetchRequest:
        """For these partitions and no others, with the acknowledgements of partitions that the
        session has."""
        settings = self._settings
        request = fetch_wire.ShareFetchRequest(
            group_id=settings.group_id,
            member_id=self._member_id,
            share_session_epoch=self.epoch,
            max_wait_ms=wait_ms,
            min_bytes=settings.fetch_min_bytes,
            max_bytes=settings.fetch_bytes_max,
            max_records=records_max,
            batch_size=settings.max_poll_records,
            share_acquire_mode=settings.acquire_mode,
        )
        if self.is_new:
            self._partitions.clear()
        else:
            self.sent, self.pending = self.pending, {}
        forgotten = {
            name: topic_id
            for name, topic_id in self._partitions.items()
            if wanted.get(name) != topic_id
        }
        changed = {name: each for name, each in wanted.items() if name not in self._partitions}
        self._partitions = dict(wanted)
        for name, topic_id in changed.items():
            self._topic_ids[name.topic] = topic_id
            self._names[topic_id] = name.topic
        topics: defaultdict[Uuid, fetch_wire.FetchTopic] = defaultdict(fetch_wire.FetchTopic)
        for name in dict.fromkeys([*changed, *self.sent]):
            runs = self.sent.get(name)
            partition = fetch_wire.FetchPartition(
                partition_index=name.partition,
                acknowledgement_batches=[] if runs is None else fetch_batches(runs),
            )
            topics[self._topic_ids[name.topic]].partitions.append(partition)
        for topic_id, topic in topics.items():
            topic.topic_id = topic_id
        request.topics = list(topics.values())
        request.forgotten_topics_data = _forgotten(forgotten)
        return request

    def acknowledge_request(self, *, is_final: bool = False) -> ack_wire.ShareAcknowledgeRequest:
        """With the renewals if there are any, otherwise with all other acknowledgements."""
        renews = bool(self.renewals) and not is_final
        if renews:
            self.sent, self.renewals = self.renewals, {}
        else:
            self.sent, self.pending = self.pending, {}
        topics: defaultdict[Uuid, ack_wire.AcknowledgeTopic] = defaultdict(
            ack_wire.AcknowledgeTopic
        )
        for name, runs in self.sent.items():
            partition = ack_wire.AcknowledgePartition(
                partition_index=name.partition, acknowledgement_batches=acknowledge_batches(runs)
            )
            topics[self._topic_ids[name.topic]].partitions.append(partition)
        for topic_id, topic in topics.items():
            topic.topic_id = topic_id
        return ack_wire.ShareAcknowledgeRequest(
            group_id=self._settings.group_id,
            member_id=self._member_id,
            share_session_epoch=FINAL_EPOCH if is_final else self.epoch,
            is_renew_ack=renews,
            topics=list(topics.values()),
        )

    def has_other_pending(self, wanted: Iterable[TopicPartition]) -> bool:
        """Whether partitions that are not wanted any more have acknowledgements: a fetch with them
        would add the partitions to the session."""
        return not self.pending.keys() <= set(wanted)

    # ---- responses

    def answered(self) -> None:
        """The node has carried the request out."""
        self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1

    def take_sent(self) -> dict[TopicPartition, AckRuns]:
        sent, self.sent = self.sent, {}
        return sent

    def restart(self) -> dict[TopicPartition, AckRuns]:
        """The session is lost, and with it all locks. Returns the acknowledgements that are
        lost."""
        lost: dict[TopicPartition, AckRuns] = {}
        for waiting in (self.sent, self.pending, self.renewals):
            for name, runs in waiting.items():
                if name in lost:
                    lost[name].runs += runs.runs
                else:
                    lost[name] = runs
        self.sent, self.pending, self.renewals = {}, {}, {}
        self.epoch = FIRST_EPOCH
        self.incarnation += 1
        return lost

    def name_of(self, topic_id: Uuid, index: int) -> TopicPartition:
        """The partition of a response."""
        return TopicPartition(self._names.get(topic_id, ""), index)


def _forgotten(partitions: Mapping[TopicPartition, Uuid]) -> list[fetch_wire.ForgottenTopic]:
    topics: dict[Uuid, fetch_wire.ForgottenTopic] = {}
    for name, topic_id in partitions.items():
        topic = topics.get(topic_id)
        if topic is None:
            topic = topics[topic_id] = fetch_wire.ForgottenTopic(topic_id=topic_id)
        topic.partitions.append(name.partition)
    return list(topics.values())
