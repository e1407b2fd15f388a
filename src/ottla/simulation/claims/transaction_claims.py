"""The properties of transactions that every history must have.

The outcome of each record is read from the log, where a control record (marker) ends each
transaction. The claims compare it with the responses that producers got and with the records that
consumers read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from ottla.model import TopicPartition
from ottla.simulation.claims.transaction_fates import (
    COMMITTED,
    TransactionFate,
    ends_of,
    fates_of,
    logs_of,
    source_of,
    transaction_of,
)
from ottla.simulation.history.history import (
    Acknowledged,
    Healed,
    History,
    LogRecovered,
    ReplicaHas,
    Sent,
)
from ottla.simulation.history.transaction_events import (
    CoordinatorDiffers,
    Decision,
    DecisionsLogged,
    GroupLogHas,
    GroupOffsetAtEnd,
    OffsetTaken,
    ProducerInitialized,
    StableOffsetSeen,
    TransactionalLogHas,
    TransactionalRead,
    TransactionBegun,
    TransactionEnded,
    TransactionEnding,
    TransactionHangs,
)


class NoAbortedRead:
    """read_committed consumers read no records of aborted or open transactions."""

    def check(self, history: History) -> Iterator[str]:
        fates = fates_of(history)
        for read in history.of(TransactionalRead):
            fate = fates.get(read.partition, {}).get(read.value)
            if read.is_committed and fate is not None and fate.end != COMMITTED:
                yield (
                    f"{read.who} read {read.value!r} at {read.partition} {read.offset}, which is "
                    f"{fate.end}"
                )


class NoReadBeforeItsCommit:
    """read_committed consumers read a record only after its producer requested the commit. So each
    transaction reads only from transactions that were decided before its own end, and nothing that
    it writes can flow back to it: no circular information flow.
    """

    def check(self, history: History) -> Iterator[str]:
        if not any(history.of(TransactionalRead)):
            return
        requested: set[str] = set()
        for _, event in history.events:
            match event:
                case TransactionEnding() if event.commits:
                    requested.add(event.name)
                case TransactionalRead() if event.is_committed:
                    if transaction_of(event.value) not in requested:
                        yield (
                            f"{event.who} read {event.value!r} at {event.partition} "
                            f"{event.offset} before its commit was requested"
                        )


class CommittedIsReadInOrder:
    """A reader reads every record of its isolation level once, in the order of the log."""

    def check(self, history: History) -> Iterator[str]:
        logs = logs_of(history)
        read: dict[tuple[str, TopicPartition, bool], list[tuple[int, bytes]]] = defaultdict(list)
        for each in history.of(TransactionalRead):
            read[each.who, each.partition, each.is_committed].append((each.offset, each.value))
        for (who, partition, is_committed), found in read.items():
            if partition not in logs:
                continue
            ends = ends_of(logs[partition])
            expected = [
                (row.offset, row.value)
                for row in logs[partition]
                if not row.marker and (not is_committed or ends[row.offset] == COMMITTED)
            ]
            if found != expected[: len(found)]:
                yield f"{who}: {_first_difference(found, expected)} in {partition}"
            elif any(history.of(LogRecovered)) and len(found) < len(expected):
                yield f"{who} has not read {expected[len(found)]} of {partition}"


class TransactionsAreWhole:
    """A transaction is committed completely or not at all, as its EndTxn response said."""

    def check(self, history: History) -> Iterator[str]:
        if not any(history.of(TransactionalLogHas)):
            return
        fates = fates_of(history)
        requested = {each.name: each.commits for each in history.of(TransactionEnding)}
        ended = {each.name: each.commits for each in history.of(TransactionEnded)}
        for name, values in _values_by_transaction(history).items():
            ends = {
                value: fates.get(partition, {}).get(value, TransactionFate("lost", -1)).end
                for partition, value in values
            }
            committed = [value for value, end in ends.items() if end == COMMITTED]
            if committed and not requested.get(name, False):
                yield f"the commit of {name} was not requested, but {committed[0]!r} is committed"
            elif committed and len(committed) < len(ends):
                missing = next(value for value, end in ends.items() if end != COMMITTED)
                yield (
                    f"{name} is committed only in part: {committed[0]!r} is committed, "
                    f"{missing!r} {ends[missing]}"
                )
            elif ended.get(name, False) and not committed:
                yield f"{name} was committed, but {next(iter(ends.items()))} is not"


class EachInputIsCopiedOnce:
    """After recovery there is exactly one committed copy of each input record."""

    def check(self, history: History) -> Iterator[str]:
        copies: dict[tuple[int, int], list[bytes]] = defaultdict(list)
        for fates in fates_of(history).values():
            for value, fate in fates.items():
                if fate.end == COMMITTED:
                    copies[source_of(value)].append(value)
        for source, values in copies.items():
            if len(values) > 1:
                yield f"input {source} is copied {len(values)} times: {values}"
        if not copies or not any(history.of(LogRecovered)):
            return
        topics = {each.partition.topic for each in history.of(GroupOffsetAtEnd)}
        for held in history.of(ReplicaHas):
            if held.partition.topic in topics:
                for offset, _, _ in held.records:
                    if (held.partition.partition, offset) not in copies:
                        yield f"no copier has copied {held.partition} {offset}"


class CopiesAreInOrder:
    """In each partition the committed copies of an input partition are in the order of that input,
    as are the transactions of a producer.
    """

    def check(self, history: History) -> Iterator[str]:
        for partition, rows in logs_of(history).items():
            ends = ends_of(rows)
            last: dict[int, int] = {}
            for row in rows:
                if row.marker or ends[row.offset] != COMMITTED:
                    continue
                source, offset = source_of(row.value)
                if offset < last.get(source, -1):
                    yield f"{row.value!r} at {partition} {row.offset} follows {last[source]}"
                last[source] = max(offset, last.get(source, -1))


class FencedProducersWriteNothing:
    """After a transactional id was taken over, its old producer neither writes nor commits."""

    def check(self, history: History) -> Iterator[str]:
        begun = {each.name: each for each in history.of(TransactionBegun)}
        # Each broker has a block of ids of its own, so a later producer id may be a lower number.
        ages: dict[int, int] = {}
        # By transactional id: age of the producer id, and epoch, that a producer was given last.
        latest: dict[str, tuple[int, int]] = {}
        # Records and transactions whose request was sent when the producer was already fenced.
        late: set[object] = set()
        for _, event in history.events:
            match event:
                case ProducerInitialized():
                    given = (_age(event.producer_id, ages), event.producer_epoch)
                    before = latest.get(event.transactional_id, given)
                    latest[event.transactional_id] = max(before, given)
                case TransactionBegun():
                    # The response to EndTxn may have contained a new producer id.
                    _age(event.producer_id, ages)
                case Sent() if (transaction := begun.get(transaction_of(event.value))) is not None:
                    if _is_fenced(transaction, latest, ages):
                        late.add(event.value)
                case Acknowledged() if event.value in late:
                    yield f"{event.who} was fenced, and wrote {event.value!r} after that"
                case TransactionEnding() if _is_fenced(begun[event.name], latest, ages):
                    late.add(event.name)
                case TransactionEnded() if event.commits and event.name in late:
                    yield f"{event.who} was fenced, and committed {event.name} after that"


class EpochsAreNeverReused:
    """No two producers get the same producer id and epoch, and in a log a producer's epochs never
    decrease.
    """

    def check(self, history: History) -> Iterator[str]:
        owners: dict[tuple[int, int], str] = {}
        for given in history.of(ProducerInitialized):
            key = (given.producer_id, given.producer_epoch)
            if key in owners:
                yield f"{given.who} got {key}, which {owners[key]} had got before"
            owners[key] = given.who
        transactions: dict[tuple[int, int], str] = {}
        for begun in history.of(TransactionBegun):
            key = (begun.producer_id, begun.producer_epoch)
            other = transactions.setdefault(key, begun.who)
            if other != begun.who:
                yield f"{begun.who} and {other} write with {key}"
        for partition, rows in logs_of(history).items():
            epochs: dict[int, int] = {}
            for row in rows:
                if row.producer_epoch < epochs.get(row.producer_id, -1):
                    yield f"{partition} {row.offset} has an older epoch than the record before it"
                epochs[row.producer_id] = row.producer_epoch


class MonotonicLastStableOffset:
    """Within one leader epoch, a reader's last stable offset never decreases, and it never exceeds
    the high watermark.
    """

    def check(self, history: History) -> Iterator[str]:
        highest: dict[tuple[str, TopicPartition, int, int], int] = {}
        for seen in history.of(StableOffsetSeen):
            stable = seen.last_stable_offset
            key = (seen.who, seen.partition, seen.leader, seen.leader_epoch)
            if stable > seen.high_watermark:
                yield (
                    f"{seen.partition} has the last stable offset {stable}, beyond its high "
                    f"watermark {seen.high_watermark}"
                )
            if stable < highest.get(key, -1):
                yield (
                    f"{seen.who} saw {seen.partition} with the last stable offset {stable} after "
                    f"{highest[key]}, at node {seen.leader} in epoch {seen.leader_epoch}"
                )
            highest[key] = max(stable, highest.get(key, -1))


class EveryTransactionEnds:
    """After healing and the longest transaction timeout, no transaction is open."""

    def check(self, history: History) -> Iterator[str]:
        if not any(history.of(Healed)):
            return
        for hangs in history.of(TransactionHangs):
            yield (
                f"{hangs.partition} has an open transaction at {hangs.last_stable_offset}, and "
                f"ends at {hangs.high_watermark}"
            )


class MarkersAgree:
    """All replicas have the same transactions with the same outcomes. Some replicas may not have
    the latest markers yet.
    """

    def check(self, history: History) -> Iterator[str]:
        first: dict[TopicPartition, TransactionalLogHas] = {}
        for held in history.of(TransactionalLogHas):
            other = first.setdefault(held.partition, held)
            common = min(len(other.rows), len(held.rows))
            if other.rows[:common] != held.rows[:common]:
                difference = _first_difference(other.rows, held.rows)
                yield f"{other.who} and {held.who}: {difference} in {held.partition}"


class MarkersFollowDecisions:
    """Every marker matches a logged decision of the coordinator, which no failover has undone."""

    def check(self, history: History) -> Iterator[str]:
        for logged in history.of(DecisionsLogged):
            known = set(logged.decisions)
            for partition, rows in logs_of(history).items():
                for row in rows:
                    made = Decision(row.producer_id, row.producer_epoch, row.marker)
                    if row.marker and made not in known:
                        yield f"there is no decision for {made} at {partition} {row.offset}"


class NoOffsetOfATransactionLost:
    """Group offsets that were accepted as part of a transaction are committed with it, even if a
    later commit would hide a loss.
    """

    def check(self, history: History) -> Iterator[str]:
        ended = {each.name for each in history.of(TransactionEnded) if each.commits}
        for log in history.of(GroupLogHas):
            committed = set(log.offsets)
            for taken in history.of(OffsetTaken):
                if taken.name in ended and (taken.partition, taken.offset) not in committed:
                    yield (
                        f"{taken.name} was committed, but {log.group} never committed offset "
                        f"{taken.offset} of {taken.partition}"
                    )


class OffsetsAgreeWithOutput:
    """After recovery, a group's committed offset is the end of the committed copies."""

    def check(self, history: History) -> Iterator[str]:
        if not any(history.of(LogRecovered)):
            return
        ends: dict[int, int] = defaultdict(int)
        for fates in fates_of(history).values():
            for value, fate in fates.items():
                if fate.end == COMMITTED:
                    source, offset = source_of(value)
                    ends[source] = max(ends[source], offset + 1)
        for group in history.of(GroupOffsetAtEnd):
            if group.offset != ends[group.partition.partition]:
                yield (
                    f"{group.group} is at {group.offset} of {group.partition}, and the copies end "
                    f"at {ends[group.partition.partition]}"
                )


class CoordinatorsAreWhatTheirLogsSay:
    """A coordinator's state equals the state that a successor would load from its log."""

    def check(self, history: History) -> Iterator[str]:
        for differs in history.of(CoordinatorDiffers):
            yield f"{differs.who}, {differs.partition}: {differs.what}"


TRANSACTION_CLAIMS: Final = (
    NoAbortedRead(),
    NoReadBeforeItsCommit(),
    CommittedIsReadInOrder(),
    TransactionsAreWhole(),
    EachInputIsCopiedOnce(),
    CopiesAreInOrder(),
    FencedProducersWriteNothing(),
    EpochsAreNeverReused(),
    MonotonicLastStableOffset(),
    EveryTransactionEnds(),
    MarkersAgree(),
    MarkersFollowDecisions(),
    NoOffsetOfATransactionLost(),
    OffsetsAgreeWithOutput(),
    CoordinatorsAreWhatTheirLogsSay(),
)


def _values_by_transaction(history: History) -> dict[str, list[tuple[TopicPartition, bytes]]]:
    names = {each.name for each in history.of(TransactionBegun)}
    found: dict[str, list[tuple[TopicPartition, bytes]]] = defaultdict(list)
    for sent in history.of(Sent):
        name = transaction_of(sent.value)
        if name in names:
            found[name].append((sent.partition, sent.value))
    return found


def _age(producer_id: int, ages: dict[int, int]) -> int:
    """The place of a producer id in the order in which producers have used them."""
    return ages.setdefault(producer_id, len(ages))


def _is_fenced(
    transaction: TransactionBegun, latest: dict[str, tuple[int, int]], ages: dict[int, int]
) -> bool:
    """Whether another producer has taken over its transactional id."""
    own = (_age(transaction.producer_id, ages), transaction.producer_epoch)
    return own < latest[transaction.transactional_id]


def _first_difference(found: Sequence[object], expected: Sequence[object]) -> str:
    for one, other in zip(found, expected, strict=False):
        if one != other:
            return f"{one} instead of {other}"
    return f"{len(found)} instead of {len(expected)}"
