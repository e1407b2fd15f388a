"""The states of a replica in the quorum, as Kafka 4.3 has them (KIP-595, KIP-853, KIP-996).

A voter:

                    election timeout              majority of pre-votes
      UNATTACHED ---------------------> PROSPECTIVE --------------------> CANDIDATE
       ^  |  ^                           |  ^  ^  |                        |     |
       |  |  +---------------------------+  |  |  |   election timeout     |     | majority
       |  |    lost, no leader known        |  |  |   or lost              |     | of votes
       |  |                                 |  +--|------------------------+     v
       |  | leader     fetch timeout        |     | lost, leader known         LEADER
       |  +-------> FOLLOWER ---------------+     |                              |
       |               ^                          |                     resigns  |
       |               +--------------------------+                              v
       +------------------------------------------------------------------- RESIGNED
                                 election timeout: next epoch

    from any state, on word of a greater epoch:  its leader is known  -> FOLLOWER
                                                 it is not            -> UNATTACHED
    from any but LEADER, on word of the leader of this epoch          -> FOLLOWER

The only voter has nobody to ask and starts as leader of the next epoch.

An observer is a replica that is not among the voters. It is UNATTACHED or FOLLOWER, looks for the
leader for as long as it takes and does not stand for election. Whether a replica votes can change
with every record, so it is no state of its own.

"Voted" is UNATTACHED with a vote cast. A vote binds for the epoch, so PROSPECTIVE and FOLLOWER
carry it along. A prospective voter asks whether it would win before it raises the epoch: one that
was cut off for a while deposes nobody when it returns (KIP-996).

A voter that shuts down becomes neither PROSPECTIVE nor CANDIDATE any more, and a candidate becomes
UNATTACHED with the vote for itself. Kafka lets a candidate finish its election and resign then.

A leader resigns when it shuts down, when no majority fetches from it, and when it is no voter any
more. It stays in its epoch, in which it can vote for nobody else, and a replica that stops as
leader starts as resigned: what it had not flushed must not be written differently under the same
offset and epoch.

Invariants
  - The epoch never goes back, and is on disk before anyone hears of it. So is the vote, so that
    there is one vote per voter and epoch; hence one leader per epoch.
  - A leader never truncates and never fetches. It appends, and only in its own epoch.
  - What a vote or a fetch says about a log is on the disk of whoever says it.
  - The high watermark never goes back, and no log is truncated below it.

`Quorum` owns the current state and is alone in replacing it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ottla.raft.election import Election
from ottla.raft.log import OffsetAndEpoch
from ottla.raft.progress import CheckQuorum, Progress
from ottla.raft.responses import VoterChangeRequest
from ottla.raft.voters import ReplicaKey, VoterEndpoint


@dataclass(slots=True)
class Unattached:
    """Knows of an epoch and of no leader that could be asked. An observer has no deadline."""

    epoch: int
    election_deadline_ms: int | None
    leader_id: int | None = None
    voted: ReplicaKey | None = None


@dataclass(slots=True)
class Prospective:
    """Asks the voters whether they would vote for it in the next epoch."""

    epoch: int
    election_deadline_ms: int
    election: Election
    leader_id: int | None
    leader_endpoint: VoterEndpoint | None
    voted: ReplicaKey | None


@dataclass(slots=True)
class Candidate:
    """Voted for itself and asks the voters to do the same."""

    epoch: int
    election_deadline_ms: int
    election: Election


@dataclass(slots=True)
class SnapshotDownload:
    """How much of the leader's snapshot has come. When it is complete the caller installs it."""

    id: OffsetAndEpoch
    position: int = 0
    is_complete: bool = False


@dataclass(slots=True)
class Follower:
    """Fetches from the leader. A voter that does not hear from it for too long gives it up.

    `leader_high_watermark` is what the leader said last. While `is_log_changing` the caller has yet
    to append or to truncate as decided, and nothing is fetched.
    """

    epoch: int
    leader_id: int
    leader_endpoint: VoterEndpoint
    fetch_deadline_ms: int
    update_voter_ms: int
    voted: ReplicaKey | None = None
    has_fetched: bool = False
    has_leader_resigned: bool = False
    is_log_changing: bool = False
    leader_high_watermark: int = -1
    download: SnapshotDownload | None = None

    def heard_from_leader(self, *, fetch_deadline_ms: int) -> None:
        """What a leader sent before it resigned may come after it said so."""
        if not self.has_leader_resigned:
            self.has_fetched = True
            self.fetch_deadline_ms = fetch_deadline_ms

    def leader_resigned(self, *, fetch_deadline_ms: int) -> None:
        """It will not lead in this epoch again, so nobody has to be kept from deposing it."""
        self.has_leader_resigned = True
        self.has_fetched = False
        self.fetch_deadline_ms = fetch_deadline_ms


@dataclass(slots=True)
class ParkedFetch:
    """A fetch with nothing to answer yet."""

    key: ReplicaKey
    position: OffsetAndEpoch
    bytes_max: int
    deadline_ms: int
    known_high_watermark: int


@dataclass(slots=True)
class VoterChange:
    """A voter being added or removed, one at a time. `offset` is where the new set stands, once it
    is appended; `request` is answered when that is committed or, if so asked, right away."""

    number: int
    request: VoterChangeRequest
    deadline_ms: int
    offset: int | None = None
    is_answered: bool = False


@dataclass(slots=True)
class Leader:
    """Appends, answers fetches, commits."""

    epoch: int
    epoch_start_offset: int
    progress: Progress
    check_quorum: CheckQuorum
    begin_quorum_epoch_ms: int
    parked: dict[int, ParkedFetch] = field(default_factory=dict)
    change: VoterChange | None = None
    is_to_resign: bool = False


@dataclass(slots=True)
class Resigned:
    """Was the leader of this epoch. Tells the voters until they know."""

    epoch: int
    election_deadline_ms: int
    successors: list[ReplicaKey]
    unacknowledged: set[int]


State: TypeAlias = Unattached | Prospective | Candidate | Follower | Leader | Resigned
