"""The properties of share groups that every history must have."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.model import TopicPartition
from ottla.simulation.clients.share_member import DELIVERY_LIMIT, is_poison
from ottla.simulation.history.history import Acknowledged, Healed, History
from ottla.simulation.history.share_events import (
    ShareAsked,
    ShareDelivered,
    ShareFinished,
    ShareSettled,
)


class NothingFinishedIsDelivered:
    """A record is not delivered by a fetch that was sent after its acknowledgement was answered,
    whatever leaders and coordinators failed."""

    def check(self, history: History) -> Iterator[str]:
        finished: dict[tuple[TopicPartition, int], int] = {}
        asked: dict[tuple[str, TopicPartition, int], int] = {}
        for at, (_, event) in enumerate(history.events):
            if isinstance(event, ShareFinished):
                finished.setdefault((event.partition, event.offset), at)
            elif isinstance(event, ShareAsked):
                asked[event.who, event.partition, event.number] = at
            elif isinstance(event, ShareDelivered):
                sent = asked[event.who, event.partition, event.number]
                for offset in range(event.first, event.last + 1):
                    if finished.get((event.partition, offset), sent) < sent:
                        yield f"{event.who} received {event.partition} {offset} again"


class OneHolderOfALock:
    """An acknowledgement is accepted only from the member that the record was delivered to last,
    unless that member has finished it: then the acknowledgement has no effect."""

    def check(self, history: History) -> Iterator[str]:
        holders: dict[tuple[TopicPartition, int], tuple[str, int]] = {}
        settled: set[tuple[str, TopicPartition, int]] = set()
        for _, event in history.events:
            if isinstance(event, ShareSettled):
                settled.add((event.who, event.partition, event.offset))
            elif isinstance(event, ShareDelivered):
                for offset in range(event.first, event.last + 1):
                    key = event.partition, offset
                    # A response that was slow may arrive after a later delivery.
                    if event.delivery_count >= holders.get(key, ("", 0))[1]:
                        holders[key] = event.who, event.delivery_count
            elif isinstance(event, ShareFinished):
                holder, count = holders.get((event.partition, event.offset), (event.who, 0))
                is_settled = (holder, event.partition, event.offset) in settled
                if holder != event.who and count > event.delivery_count and not is_settled:
                    yield (
                        f"{event.who} finished {event.partition} {event.offset}, which {holder} had"
                    )


class DeliveriesAreLimited:
    """No record is delivered more often than the group allows."""

    def check(self, history: History) -> Iterator[str]:
        for event in history.of(ShareDelivered):
            if event.delivery_count > DELIVERY_LIMIT:
                yield (
                    f"{event.who} received {event.partition} {event.first} for the "
                    f"{event.delivery_count}th time"
                )


class EverythingIsShared:
    """After healing, every acknowledged record is accepted or rejected by a member of the share
    group, or delivered as often as allowed."""

    def check(self, history: History) -> Iterator[str]:
        partitions = {event.partition for event in history.of(ShareAsked)}
        if not any(history.of(Healed)):
            return
        settled = {(event.partition, event.offset) for event in history.of(ShareSettled)}
        for ack in history.of(Acknowledged):
            is_shared = ack.partition in partitions and ack.offset >= 0
            is_shared = is_shared and not is_poison(ack.offset)
            if is_shared and (ack.partition, ack.offset) not in settled:
                yield f"no member of the share group has finished {ack.partition} {ack.offset}"


SHARE_CLAIMS = (
    NothingFinishedIsDelivered(),
    OneHolderOfALock(),
    DeliveriesAreLimited(),
    EverythingIsShared(),
)
