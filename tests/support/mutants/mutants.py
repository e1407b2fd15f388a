"""Bugs planted in the production's code, which the simulation has to find.

Each is a way in which a replicated log may be wrong. A mutant is a context in which the bug is
there; it names a seed that finds it, with which the search begins. Some need a moment that seeds
seldom meet, and name the faults that seek it.
"""

from __future__ import annotations

from copy import copy
from itertools import count
from typing import Any

from ottla.broker.control import registration
from ottla.channels.peer import ReconnectBackoff
from ottla.configs import EffectiveTopicConfig
from ottla.controller import quorum
from ottla.metadata.replay.replay import MetadataReplay
from ottla.model import ZERO_UUID
from ottla.raft import serving, voting
from ottla.raft.progress import Progress
from ottla.raft.states import Candidate, Prospective, Unattached
from ottla.replication.fetcher import Fetcher
from ottla.replication.leadership import Leadership
from ottla.replication.partition import Partition
from ottla.replication.readable_partition import ReadablePartition
from ottla.simulation.claims.claims import (
    AvailableAgainAfterHealing,
    EachRecordOnceAtOneOffset,
    IdempotentProducersNeverDuplicate,
    ImagesAgree,
    InSyncReplicasHaveWhatIsCommitted,
    MonotonicHighWatermark,
    NoAcknowledgedWriteLost,
    NothingFailsUnexplained,
    OneVotePerEpoch,
    OnlyWhatWasSentIsThere,
    ReadsArePrefix,
    SingleLeaderPerEpoch,
)
from ottla.storage.batches import follower_batches
from ottla.storage.producers.producer_state import ProducerState
from ottla.storage.segments.segment import Segment
from tests.support.mutants.checked_mutants import CHECKED_MUTANTS
from tests.support.mutants.client_mutants import CLIENT_MUTANTS
from tests.support.mutants.delay_mutants import DELAY_MUTANTS
from tests.support.mutants.deletion_mutants import DELETION_MUTANTS
from tests.support.mutants.offset_mutants import OFFSET_MUTANTS
from tests.support.mutants.planting import (
    Mutant,
    around,
    become_leader,
    replacing,
    skipping_truncation,
)
from tests.support.mutants.security_mutants import SECURITY_MUTANTS
from tests.support.mutants.share_mutants import SHARE_MUTANTS
from tests.support.mutants.tenant_mutants import TENANT_MUTANTS
from tests.support.mutants.transaction_mutants import TRANSACTION_MUTANTS
from tests.support.mutants.transactional_log_mutants import TRANSACTIONAL_LOG_MUTANTS
from tests.support.mutants.two_phase_mutants import TWO_PHASE_MUTANTS

# ---- replication


def _read_all(self: Any, offset: int, **how: Any) -> Any:
    """Consumers see what is not committed."""
    log = self.require_log()
    kept, log.high_watermark = log.high_watermark, log.log_end_offset
    try:
        return _READ(self, offset, **how)
    finally:
        log.high_watermark = kept


def _returns_log_end(self: Any, offset: int, **how: Any) -> Any:
    """A read that finds nothing gets the end of the log as the high watermark."""
    read = _READ(self, offset, **how)
    if read.records is None:
        return read._replace(high_watermark=self.require_log().log_end_offset)
    return read


def _skip_ahead(self: Any, offset: int, **how: Any) -> Any:
    """After a leader change some reads start a few records late."""
    log = self.require_log()
    if self.leader_epoch > 0 and offset % 3 == 0:
        offset = max(min(offset + 4, log.high_watermark - 1), offset)
    return _READ(self, offset, **how)


def _stumbles(self: Any, offset: int, **how: Any) -> Any:
    """Some reads end in an unexpected error."""
    if offset % 40 == 39:
        raise LookupError(offset)
    return _READ(self, offset, **how)


_READ = ReadablePartition.read


def _follows_on(self: Partition, registration: Any) -> bool:
    """The metadata is applied, but fetching continues from the previous leader."""
    _FOLLOW(self, registration)
    return False


def _requires_no_epoch(self: Any, follower: Any, requested: Any) -> Any:
    """A follower's fetch in another leader epoch is answered, and counts."""
    requested = copy(requested)
    requested.current_leader_epoch = -1
    return _REQUIRE_FOLLOWER(self, follower, requested)


_FOLLOW = Partition.become_follower
_REQUIRE_FOLLOWER = Partition._require_follower


def _forget_producers(partition: Partition) -> None:
    if partition.log is not None:
        partition.log.producers.state.clear()


def _never_stops_leading(_partition: Partition) -> None: ...


async def _fetch_once(self: Any) -> None:
    """A fetcher ends when its leader does not answer."""
    restart = self._session.restart

    def give_up() -> None:
        restart()
        self._partitions.clear()
        self._changed.clear()

    self._session.restart = give_up
    await _RUN(self)


_RUN = Fetcher.run


# ---- consensus


def _votes_again(quorum: Any, _nominee: Any, *, is_up_to_date: bool) -> bool:
    return is_up_to_date and isinstance(quorum.state, Unattached | Prospective | Candidate)


def _commits_alone(self: Any) -> bool:
    """What the leader has is committed."""
    own = self.voter(self._local)
    reached = -1 if own is None or own.end_offset is None else own.end_offset
    if reached <= (self.high_watermark or 0):
        return False
    self.high_watermark = reached
    return True


def _drops_records(original: Any) -> Any:
    """Now and then a node forgets a record of the metadata."""
    counted = count(1)

    def take(self: MetadataReplay, records: Any, delta: Any) -> None:
        taken = next(counted)
        if taken % 30 or len(records) > 1:
            original(self, records, delta)

    return take


async def _beats_no_more(_self: Any) -> None:
    """A node registers and sends no heartbeats."""


def _forgets_vote(original: Any) -> Any:
    """A node that starts again does not know whom it voted for."""

    def read(*arguments: Any) -> Any:
        state = original(*arguments)
        if state is not None:
            state.voted_id, state.voted_directory_id = -1, ZERO_UUID
        return state

    return read


def _joins_anyhow(self: Any, replica: Any, _offset: int) -> bool:
    """Every follower that fetches may join the ISR, however far behind."""
    return self.pending is None and self.is_eligible(replica)


_MUTANTS = (
    Mutant(
        "forgets its vote",
        around(quorum, "read_quorum_state", _forgets_vote),
        11,
        OneVotePerEpoch,
        seeks=("contest_election",),
    ),
    Mutant(
        "joins the ISR behind the high watermark",
        replacing(Leadership, "can_join", _joins_anyhow),
        2,
        InSyncReplicasHaveWhatIsCommitted,
    ),
    Mutant(
        "ignores leader epochs",
        replacing(ReadablePartition, "check_leader_epoch", lambda _self, _requested: None),
        5,
        InSyncReplicasHaveWhatIsCommitted,
        seeks=("flip_leaders",),
    ),
    Mutant(
        "goes on following a deposed leader",
        replacing(Partition, "become_follower", _follows_on),
        1,
        EachRecordOnceAtOneOffset,
    ),
    Mutant(
        "accepts a stale leader's fetch",
        replacing(Partition, "_require_follower", _requires_no_epoch),
        5,
        InSyncReplicasHaveWhatIsCommitted,
        seeks=("flip_leaders",),
    ),
    Mutant(
        "takes the page cache for the device",
        replacing(Segment, "rewrite_log", lambda _self, _start: None),
        1,
        AvailableAgainAfterHealing,
        seeks=("failing_disk", "lose_power_all"),
        is_durable=True,
    ),
    Mutant(
        "acknowledges before replication",
        replacing(Partition, "is_acknowledged", lambda _self, _offset: True),
        1,
        InSyncReplicasHaveWhatIsCommitted,
    ),
    Mutant(
        "serves past the high watermark",
        replacing(ReadablePartition, "read", _read_all),
        3,
        ReadsArePrefix,
    ),
    Mutant(
        "stumbles over a read",
        replacing(ReadablePartition, "read", _stumbles),
        1,
        NothingFailsUnexplained,
    ),
    Mutant(
        "trusts what it fetches",
        replacing(follower_batches, "verify_crc", lambda *_: None),
        1,
        OnlyWhatWasSentIsThere,
        seeks=("corrupt_reads",),
    ),
    Mutant("skips truncation", skipping_truncation, 17, NoAcknowledgedWriteLost),
    Mutant(
        "votes twice in an epoch",
        replacing(voting, "_can_vote", _votes_again),
        1,
        SingleLeaderPerEpoch,
        seeks=("contest_election",),
    ),
    Mutant(
        "forgets producers on failover",
        around(Partition, "become_leader", become_leader(_forget_producers)),
        7,
        IdempotentProducersNeverDuplicate,
    ),
    Mutant(
        "loses an fsync",
        replacing(Segment, "sync", lambda _self: None),
        7,
        AvailableAgainAfterHealing,
    ),
    Mutant(
        "commits metadata without a majority",
        replacing(Progress, "maybe_advance_high_watermark", _commits_alone),
        24,
        ImagesAgree,
    ),
    Mutant(
        "counts no follower",
        replacing(Leadership, "replicated_up_to", lambda _self, leader_end: leader_end),
        1,
        InSyncReplicasHaveWhatIsCommitted,
    ),
    Mutant(
        "knows no duplicates",
        replacing(ProducerState, "check_client_batch", lambda *_: None),
        9,
        IdempotentProducersNeverDuplicate,
    ),
    Mutant(
        "elects leaders out of sync",
        replacing(EffectiveTopicConfig, "unclean_leader_election_enable", True),
        100,
        NoAcknowledgedWriteLost,
    ),
    Mutant(
        "returns a wrong high watermark",
        replacing(ReadablePartition, "read", _returns_log_end),
        1,
        MonotonicHighWatermark,
    ),
    Mutant("skips records", replacing(ReadablePartition, "read", _skip_ahead), 2, ReadsArePrefix),
    Mutant("forgets metadata", around(MetadataReplay, "take", _drops_records), 2, ImagesAgree),
    Mutant(
        "never stops leading",
        replacing(Partition, "_stop_leading", _never_stops_leading),
        1,
        SingleLeaderPerEpoch,
    ),
    Mutant(
        "fetches until the first error",
        replacing(Fetcher, "run", _fetch_once),
        1,
        AvailableAgainAfterHealing,
    ),
    Mutant(
        "never connects again",
        replacing(ReconnectBackoff, "after", lambda _self, failures, _dice: failures * 1e6),
        2,
        AvailableAgainAfterHealing,
    ),
    Mutant(
        "sends no heartbeats",
        replacing(registration.Registration, "keep_alive", _beats_no_more),
        1,
        AvailableAgainAfterHealing,
    ),
    Mutant(
        "takes every log for its own",
        replacing(serving, "find_obstacle", lambda _log, _position: None),
        37,
        ImagesAgree,
    ),
)

MUTANTS = (
    *_MUTANTS,
    *TRANSACTION_MUTANTS,
    *TRANSACTIONAL_LOG_MUTANTS,
    *OFFSET_MUTANTS,
    *CLIENT_MUTANTS,
    *SECURITY_MUTANTS,
    *TENANT_MUTANTS,
    *CHECKED_MUTANTS,
    *TWO_PHASE_MUTANTS,
    *DELETION_MUTANTS,
    *SHARE_MUTANTS,
    *DELAY_MUTANTS,
)
