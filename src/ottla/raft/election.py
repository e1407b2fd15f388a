"""Counts the votes of one election."""

from __future__ import annotations

from enum import Enum

from ottla.raft.voters import ReplicaKey, VoterSet


class Ballot(Enum):
    GRANTED = "granted"
    REJECTED = "rejected"


class Election:
    """The voter set is fixed when the election starts. The nominee votes for itself if it is a
    voter.

    The election is decided as soon as the missing votes cannot change the outcome.
    """

    def __init__(self, voters: VoterSet, nominee: ReplicaKey) -> None:
        self._voters = voters
        self._ballots: dict[int, Ballot] = {}
        if voters.has(nominee):
            self._ballots[nominee.id] = Ballot.GRANTED

    def record(self, voter_id: int, ballot: Ballot) -> None:
        """Records the first ballot of each voter; later ones are ignored. A majority needs distinct
        voters."""
        if voter_id in self._voters.ids:
            self._ballots.setdefault(voter_id, ballot)

    @property
    def granting_voters(self) -> list[int]:
        return self._with(Ballot.GRANTED)

    @property
    def rejecting_voters(self) -> list[int]:
        return self._with(Ballot.REJECTED)

    @property
    def unrecorded_voters(self) -> list[ReplicaKey]:
        return [key for key in self._voters.keys if key.id not in self._ballots]

    @property
    def is_won(self) -> bool:
        return len(self.granting_voters) >= self._voters.majority

    @property
    def is_lost(self) -> bool:
        remaining = len(self._voters.voters) - len(self.rejecting_voters)
        return remaining < self._voters.majority

    def _with(self, ballot: Ballot) -> list[int]:
        return sorted(voter_id for voter_id, cast in self._ballots.items() if cast is ballot)
