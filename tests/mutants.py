"""Bugs planted in the production's code, which the simulation has to find.

Each is a way in which a replicated log may be wrong. A mutant is a context in which the bug is
there; it names a seed that finds it, with which the search begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any
from unittest.mock import patch

from ottla.broker import registration
from ottla.client.peer import ReconnectBackoff
from ottla.configs import EffectiveTopicConfig
from ottla.metadata.replay.replay import Replay
from ottla.raft import serving, voting
from ottla.raft.progress import Progress
from ottla.raft.states import Candidate, Prospective, Unattached
from ottla.replication.fetcher import Fetcher
from ottla.replication.leadership import Leadership
from ottla.replication.partition import Partition
from ottla.replication.readable_partition import ReadablePartition
from ottla.storage.producer_state import ProducerState
from ottla.storage.segment import Segment


@dataclass(frozen=True)
class Mutant:
    name: str
    plant: Callable[[], AbstractContextManager[Any]]
    first_seed: int


def _replacing(owner: Any, name: str, new: Any) -> Callable[[], AbstractContextManager[Any]]:
    return lambda: patch.object(owner, name, new)


def _around(owner: Any, name: str, make: Callable[[Any], Any]) -> Callable[[], Any]:
    """Replaces a function by one made of it."""
    return lambda: patch.object(owner, name, make(getattr(owner, name)))


# ---- replication


def _read_all(self: Any, offset: int, **how: Any) -> Any:
    """Consumers see what is not committed."""
    log = self.require_log()
    kept, log.high_watermark = log.high_watermark, log.log_end_offset
    try:
        return _READ(self, offset, **how)
    finally:
        log.high_watermark = kept


def _tell_end(self: Any, offset: int, **how: Any) -> Any:
    """A read that finds nothing is told the end of the log as the high watermark."""
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


_READ = ReadablePartition.read


def _become_leader(change: Callable[[Partition], None]) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def become_leader(self: Partition, *arguments: Any, **named: Any) -> bool:
            epoch = self.leader_epoch
            changed: bool = original(self, *arguments, **named)
            if changed and self.leader_epoch > epoch:
                change(self)
            return changed

        return become_leader

    return make


def _forget_producers(partition: Partition) -> None:
    if partition.log is not None:
        partition.log.producers.state.clear()


def _never_stops_leading(_partition: Partition) -> None: ...


@contextmanager
def _no_truncation() -> Iterator[None]:
    """A follower whose log has gone another way appends to it nevertheless."""
    with patch.object(ReadablePartition, "divergence", lambda _self, _asked: None):
        yield


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

    def take(self: Replay, records: Any, delta: Any) -> None:
        taken = next(counted)
        if taken % 30 or len(records) > 1:
            original(self, records, delta)

    return take


async def _beats_no_more(_self: Any) -> None:
    """A node registers and is not heard of any more."""


MUTANTS = (
    Mutant(
        "acknowledges before replication",
        _replacing(Partition, "is_acknowledged", lambda _self, _offset: True),
        3,
    ),
    Mutant("serves past the high watermark", _replacing(ReadablePartition, "read", _read_all), 3),
    Mutant("skips truncation", _no_truncation, 5),
    Mutant("votes twice in an epoch", _replacing(voting, "_can_vote", _votes_again), 9),
    Mutant(
        "forgets producers on failover",
        _around(Partition, "become_leader", _become_leader(_forget_producers)),
        4,
    ),
    Mutant("loses an fsync", _replacing(Segment, "sync", lambda _self: None), 9),
    Mutant(
        "commits metadata without a majority",
        _replacing(Progress, "maybe_advance_high_watermark", _commits_alone),
        9,
    ),
    Mutant(
        "counts no follower",
        _replacing(Leadership, "replicated_up_to", lambda _self, leader_end: leader_end),
        3,
    ),
    Mutant(
        "knows no duplicates",
        _replacing(ProducerState, "check_client_batch", lambda _self, _batch: None),
        3,
    ),
    Mutant(
        "elects leaders out of sync",
        _replacing(EffectiveTopicConfig, "unclean_leader_election_enable", True),
        9,
    ),
    Mutant("tells a wrong high watermark", _replacing(ReadablePartition, "read", _tell_end), 1),
    Mutant("skips records", _replacing(ReadablePartition, "read", _skip_ahead), 4),
    Mutant("forgets metadata", _around(Replay, "take", _drops_records), 1),
    Mutant("never stops leading", _replacing(Partition, "_stop_leading", _never_stops_leading), 1),
    Mutant("fetches until the first error", _replacing(Fetcher, "run", _fetch_once), 1),
    Mutant(
        "never connects again",
        _replacing(ReconnectBackoff, "after", lambda _self, failures, _dice: failures * 1e6),
        3,
    ),
    Mutant(
        "sends no heartbeats",
        _replacing(registration.Registration, "keep_alive", _beats_no_more),
        1,
    ),
    Mutant(
        "takes every log for its own",
        _replacing(serving, "find_obstacle", lambda _log, _position: None),
        4,
    ),
)
