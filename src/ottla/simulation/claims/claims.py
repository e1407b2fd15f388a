"""The properties that every history must have, whatever faults occurred. Each claim is a class.

A claim reads a history and yields one sentence for each violation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

from ottla.model import TopicPartition
from ottla.simulation.claims.checked_claims import SetAsideExactlyOnce
from ottla.simulation.claims.delay_claims import DELAY_CLAIMS
from ottla.simulation.claims.deletion_claims import DELETION_CLAIMS
from ottla.simulation.claims.group_claims import (
    EverythingIsConsumed,
    NoCommitLost,
    OneOwnerPerEpoch,
)
from ottla.simulation.claims.kept_security import AcknowledgedSecurityIsKept
from ottla.simulation.claims.security_claims import (
    AllowedIsNotRefused,
    LoginsFollowCredentials,
    RequestsKeepTheirPrincipal,
    ServedOnlyIfAllowed,
)
from ottla.simulation.claims.share_claims import SHARE_CLAIMS
from ottla.simulation.claims.tenant_claims import LimitsHold, NothingCrossesTenants
from ottla.simulation.claims.transaction_claims import TRANSACTION_CLAIMS
from ottla.simulation.claims.transaction_cycles import NoCycleBetweenTransactions
from ottla.simulation.claims.two_phase_claims import TWO_PHASE_CLAIMS
from ottla.simulation.history.history import (
    Acknowledged,
    Failed,
    Healed,
    History,
    ImageSeen,
    InSyncReplicaLacks,
    LogRecovered,
    PartitionLed,
    ProducerFailed,
    QuorumLeaderSeen,
    Read,
    ReaderLost,
    ReplicaHas,
    Sent,
    VoteSeen,
    WatermarkSeen,
)


class Violation(NamedTuple):
    """A violated claim and a description of the violation."""

    claim: str
    text: str

    def __str__(self) -> str:
        return f"{self.claim}: {self.text}"


class Claim(Protocol):
    def check(self, history: History) -> Iterator[str]: ...


class NoAcknowledgedWriteLost:
    """At the end every acknowledged record is on every replica, at the acknowledged offset."""

    def check(self, history: History) -> Iterator[str]:
        replicas = _replicas(history)
        for ack in history.of(Acknowledged):
            for who, records in replicas.get(ack.partition, {}).items():
                offsets = records.offsets.get(ack.value, [])
                acknowledged = f"{ack.value!r} was acknowledged at {ack.partition} {ack.offset}"
                if not offsets:
                    yield f"{acknowledged}, but is missing on {who}"
                elif ack.offset >= 0 and ack.offset not in offsets:
                    yield f"{acknowledged}, but is at {offsets} on {who}"


class EachRecordOnceAtOneOffset:
    """After healing, all replicas of a partition have the same records at the same offsets."""

    def check(self, history: History) -> Iterator[str]:
        for partition, by_node in _replicas(history).items():
            (first, expected), *others = by_node.items()
            for who, records in others:
                if records.rows != expected.rows:
                    yield f"{partition}: {_first_difference(first, expected, who, records)}"


class IdempotentProducersNeverDuplicate:
    """A record that was sent once is in the log once, and no producer gets a sequence error."""

    def check(self, history: History) -> Iterator[str]:
        sent = {(event.partition, event.value) for event in history.of(Sent)}
        for partition, by_node in _replicas(history).items():
            for who, records in by_node.items():
                for value, offsets in records.offsets.items():
                    if len(offsets) > 1 and (partition, value) in sent:
                        yield f"{value!r} is at offsets {offsets} of {partition} on {who}"
        for failed in history.of(ProducerFailed):
            yield f"{failed.who} cannot continue at {failed.partition}: {failed.error}"


class OnlyWhatWasSentIsThere:
    """Logs contain only records that were sent, each producer's records in sending order."""

    def check(self, history: History) -> Iterator[str]:
        order: dict[TopicPartition, dict[bytes, tuple[str, int]]] = defaultdict(dict)
        for at, sent in enumerate(history.of(Sent)):
            order[sent.partition][sent.value] = (sent.who, at)
        for partition, by_node in _replicas(history).items():
            known = order.get(partition, {})
            for who, records in by_node.items():
                last: dict[str, int] = {}
                for offset, _, value in records.rows:
                    if value not in known:
                        yield (
                            f"no producer sent {value!r}, which is at {partition} {offset} on {who}"
                        )
                        continue
                    producer, at = known[value]
                    if at < last.get(producer, -1):
                        yield f"{value!r} at {partition} {offset} on {who} is behind a later record"
                    last[producer] = max(at, last.get(producer, -1))


class InSyncReplicasHaveWhatIsCommitted:
    """At any moment, each serving in-sync replica has all records ever committed."""

    def check(self, history: History) -> Iterator[str]:
        for lacks in history.of(InSyncReplicaLacks):
            yield f"{lacks.partition}: {lacks.what}"


class SingleLeaderPerEpoch:
    """Per epoch there is at most one leader, of the quorum and of each partition."""

    def check(self, history: History) -> Iterator[str]:
        quorum: dict[int, tuple[int, str]] = {}
        for seen in history.of(QuorumLeaderSeen):
            leader, who = quorum.setdefault(seen.epoch, (seen.leader, seen.who))
            if leader != seen.leader:
                yield (
                    f"in epoch {seen.epoch} of the quorum {who} follows {leader} and {seen.who} "
                    f"follows {seen.leader}"
                )
        partitions: dict[tuple[TopicPartition, str, int], int] = {}
        for led in history.of(PartitionLed):
            key = (led.partition, led.topic_id, led.leader_epoch)
            node = partitions.setdefault(key, led.node)
            if node != led.node:
                yield f"{led.partition} is led by {node} and {led.node} in epoch {led.leader_epoch}"


class OneVotePerEpoch:
    """A node votes for at most one candidate per quorum epoch, even across restarts."""

    def check(self, history: History) -> Iterator[str]:
        votes: dict[tuple[str, int], int] = {}
        for seen in history.of(VoteSeen):
            candidate = votes.setdefault((seen.who, seen.epoch), seen.candidate)
            if candidate != seen.candidate:
                yield (
                    f"in epoch {seen.epoch} of the quorum {seen.who} votes for {candidate} and "
                    f"for {seen.candidate}"
                )


class MonotonicHighWatermark:
    """Within one leader epoch, a reader's high watermark never decreases."""

    def check(self, history: History) -> Iterator[str]:
        highest: dict[tuple[str, TopicPartition, int, int], int] = {}
        for seen in history.of(WatermarkSeen):
            key = (seen.who, seen.partition, seen.leader, seen.leader_epoch)
            if seen.high_watermark < highest.get(key, -1):
                yield (
                    f"{seen.who} saw {highest[key]} and then {seen.high_watermark} of "
                    f"{seen.partition} at node {seen.leader} in epoch {seen.leader_epoch}"
                )
            highest[key] = max(seen.high_watermark, highest.get(key, -1))


class ReadsArePrefix:
    """Every record read is in the final log at that offset, and no offset before it was skipped."""

    def check(self, history: History) -> Iterator[str]:
        agreed = {
            partition: {offset: value for offset, _, value in next(iter(by_node.values())).rows}
            for partition, by_node in _replicas(history).items()
        }
        positions: dict[tuple[str, TopicPartition], int] = {}
        for read in history.of(Read):
            log = agreed.get(read.partition)
            if log is None:
                continue
            if log.get(read.offset) != read.value:
                yield (
                    f"{read.who} read {read.value!r} at {read.partition} {read.offset}, where "
                    f"{log.get(read.offset)!r} is"
                )
            expected = positions.get((read.who, read.partition))
            if expected is not None and read.offset != expected:
                yield f"{read.who} read {read.partition} {read.offset} after {expected - 1}"
            positions[read.who, read.partition] = read.offset + 1
        for lost in history.of(ReaderLost):
            if lost.partition in agreed:
                yield f"{lost.who} got the error that {lost.partition} has no offset {lost.offset}"


class ImagesAgree:
    """Nodes with metadata up to the same offset have the same metadata image."""

    def check(self, history: History) -> Iterator[str]:
        images: dict[int, tuple[str, str]] = {}
        for seen in history.of(ImageSeen):
            digest, who = images.setdefault(seen.offset, (seen.digest, seen.who))
            if digest != seen.digest:
                yield f"at offset {seen.offset} {who} has {digest} and {seen.who} {seen.digest}"


class AvailableAgainAfterHealing:
    """After the faults are healed, the cluster and all clients recover within a time limit."""

    def check(self, history: History) -> Iterator[str]:
        if len(list(history.of(LogRecovered))) < len(list(history.of(Healed))):
            yield "the cluster did not recover in time after the faults had ended"


class NothingFailsUnexplained:
    """No node fails with an error that the injected faults do not explain."""

    def check(self, history: History) -> Iterator[str]:
        for failed in history.of(Failed):
            yield f"{failed.who}: {failed.what}"


CLAIMS: Final[tuple[Claim, ...]] = (
    NoAcknowledgedWriteLost(),
    EachRecordOnceAtOneOffset(),
    IdempotentProducersNeverDuplicate(),
    OnlyWhatWasSentIsThere(),
    InSyncReplicasHaveWhatIsCommitted(),
    SingleLeaderPerEpoch(),
    OneVotePerEpoch(),
    MonotonicHighWatermark(),
    ReadsArePrefix(),
    ImagesAgree(),
    AvailableAgainAfterHealing(),
    NothingFailsUnexplained(),
    OneOwnerPerEpoch(),
    NoCommitLost(),
    EverythingIsConsumed(),
    *TRANSACTION_CLAIMS,
    *SHARE_CLAIMS,
    *TWO_PHASE_CLAIMS,
    *DELETION_CLAIMS,
    *DELAY_CLAIMS,
    SetAsideExactlyOnce(),
    NothingCrossesTenants(),
    LimitsHold(),
    NoCycleBetweenTransactions(),
    ServedOnlyIfAllowed(),
    AllowedIsNotRefused(),
    RequestsKeepTheirPrincipal(),
    LoginsFollowCredentials(),
    AcknowledgedSecurityIsKept(),
)


def violations(history: History) -> list[Violation]:
    """All violations, in the order of the claims."""
    return [
        Violation(type(claim).__name__, text) for claim in CLAIMS for text in claim.check(history)
    ]


class _Held(NamedTuple):
    rows: tuple[tuple[int, int, bytes], ...]
    offsets: dict[bytes, list[int]]


def _replicas(history: History) -> dict[TopicPartition, dict[str, _Held]]:
    """The records of each replica at the end."""
    found: dict[TopicPartition, dict[str, _Held]] = {}
    for held in history.of(ReplicaHas):
        offsets: dict[bytes, list[int]] = {}
        for offset, _, value in held.records:
            offsets.setdefault(value, []).append(offset)
        found.setdefault(held.partition, {})[held.who] = _Held(held.records, offsets)
    return found


def _first_difference(first: str, expected: _Held, who: str, records: _Held) -> str:
    for one, other in zip(expected.rows, records.rows, strict=False):
        if one != other:
            return f"{first} has {one}, and {who} has {other}"
    return f"{first} has {len(expected.rows)} records, and {who} has {len(records.rows)}"
