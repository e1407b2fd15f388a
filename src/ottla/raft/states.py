"""The states of a replica in the quorum, as Kafka 4.3 has them (KIP-595, KIP-853, KIP-996).

A voter:

                    election timeout              majority of pre-votes
      UNATTACHED ---------------------> PROSPECTIVE --------------------> CANDIDATE
       ^  |  ^                           |  ^  ^  |                        |     |
       |  |  +---------------------------+  |  |  |   election timeout     |     | majority
       |  |    lost, no leader known        |  |  |                        |     | of votes
       |  |                                 |  +--|------------------------+     v
       |  | leader     fetch timeout        |     | lost, leader known         LEADER
       |  +-------> FOLLOWER ---------------+     |                              |
       |               ^                          |                     resigns  |
       |               +--------------------------+                              v
       +------------------------------------------------------------------- RESIGNED
                                 election timeout: next epoch

    from any state, on a greater epoch:  its leader is known               -> FOLLOWER
                                         it is not                         -> UNATTACHED
    from any but LEADER and RESIGNED, on learning the leader of this epoch -> FOLLOWER

If there is only one voter, it starts as leader of the next epoch without requesting votes.

An observer is a replica that is not a voter. It is UNATTACHED or FOLLOWER, keeps looking for the
leader without a time limit and does not start elections. Whether a replica is a voter can change
with every record, so it is not a state.

"Voted" is UNATTACHED with a vote cast. A vote is binding for its epoch, so PROSPECTIVE and FOLLOWER
keep it. A prospective voter asks whether it would win before it increments the epoch, so a voter
that was disconnected for a while does not depose the leader when it reconnects (KIP-996).

A voter that shuts down does not become PROSPECTIVE or CANDIDATE, and a candidate becomes UNATTACHED
and keeps the vote for itself. In Kafka a candidate first finishes its election and then resigns.

A leader resigns when it shuts down, when no majority fetches from it, and when it is no longer a
voter. It stays in its epoch and cannot vote for another replica in it. A replica that stops as
leader restarts as resigned: it must not write other records at an offset and epoch where records
that it had not flushed may already be on other replicas.

Invariants
  - The epoch never decreases, and is on disk before it is sent. So is the vote, so that each voter
    has one vote per epoch; hence there is at most one leader per epoch.
  - A leader never truncates and never fetches. It appends, and only in its own epoch.
  - The log end in a vote or fetch request is flushed on the disk of the sender.
  - The high watermark never decreases, and no log is truncated below it.

Only `Quorum` holds and replaces the current state.
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
    """Has an epoch but no leader to fetch from. An observer has no election deadline."""

    epoch: int
    election_deadline_ms: int | None
    leader_id: int | None = None
    voted: ReplicaKey | None = None


@dataclass(slots=True)
class Prospective:
    """Asks the voters whether they would vote for it in the next epoch (pre-vote)."""

    epoch: int
    election_deadline_ms: int
    election: Election
    leader_id: int | None
    leader_endpoint: VoterEndpoint | None
    voted: ReplicaKey | None


@dataclass(slots=True)
class Candidate:
    """Voted for itself and requests the votes of the other voters."""

    epoch: int
    election_deadline_ms: int
    election: Election


@dataclass(slots=True)
class SnapshotDownload:
    """How much of the leader's snapshot has arrived. When it is complete the caller installs it."""

    id: OffsetAndEpoch
    position: int = 0
    is_complete: bool = False


@dataclass(slots=True)
class Follower:
    """Fetches from the leader. A voter without a response for the fetch timeout starts an election.

    `leader_high_watermark` is the latest one that the leader sent. While `is_log_changing`, the
    caller still has to append or truncate as decided, and nothing is fetched.
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

    def leader_responded(self, *, fetch_deadline_ms: int) -> None:
        """Ignored after the leader has resigned: responses sent before may arrive later."""
        if not self.has_leader_resigned:
            self.has_fetched = True
            self.fetch_deadline_ms = fetch_deadline_ms

    def leader_resigned(self, *, fetch_deadline_ms: int) -> None:
        """The leader will not lead again in this epoch, so pre-votes against it are granted."""
        self.has_leader_resigned = True
        self.has_fetched = False
        self.fetch_deadline_ms = fetch_deadline_ms


@dataclass(slots=True)
class ParkedFetch:
    """A fetch waiting for data."""

    key: ReplicaKey
    position: OffsetAndEpoch
    bytes_max: int
    deadline_ms: int
    known_high_watermark: int


@dataclass(slots=True)
class VoterChange:
    """A voter being added or removed; only one at a time. `offset` is that of the VotersRecord,
    once it is appended. The response to `request` is sent when the record is committed, or right
    away if the request says so."""

    number: int
    request: VoterChangeRequest
    deadline_ms: int
    offset: int | None = None
    is_answered: bool = False


@dataclass(slots=True)
class Leader:
    """Appends, serves fetches, commits."""

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
    """Was the leader of this epoch. Sends EndQuorumEpoch to each voter until it acknowledges."""

    epoch: int
    election_deadline_ms: int
    successors: list[ReplicaKey]
    unacknowledged: set[int]


State: TypeAlias = Unattached | Prospective | Candidate | Follower | Leader | Resigned
