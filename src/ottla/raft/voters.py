"""Voters, identified by id and directory id, their endpoints, and voter sets (KIP-853).

A replica that lost its disk restarts with the same id and an empty log. If it still counted as the
same voter, records that a majority acknowledged could be lost, so a voter is also identified by its
directory id. Voters of a static configuration have no directory id (`ZERO_UUID`), which matches any
directory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.model import ZERO_UUID, Uuid
from ottla.wire.stored.quorum import Endpoint as EndpointRecord
from ottla.wire.stored.quorum import KRaftVersionFeature, VotersRecord, VotersRecordVoter


class ReplicaKey(NamedTuple):
    id: int
    directory_id: Uuid = ZERO_UUID

    def admits(self, other: ReplicaKey) -> bool:
        """Whether `other` is the replica that this key, of a voter or a vote, identifies."""
        return self.id == other.id and self.directory_id in (ZERO_UUID, other.directory_id)


class VoterEndpoint(NamedTuple):
    """The address of a listener."""

    name: str
    host: str
    port: int


class KRaftVersions(NamedTuple):
    """The range of kraft.version levels that a replica supports."""

    lowest: int = 0
    highest: int = 0

    def include(self, version: int) -> bool:
        return self.lowest <= version <= self.highest


class Voter(NamedTuple):
    key: ReplicaKey
    endpoints: tuple[VoterEndpoint, ...]
    kraft_versions: KRaftVersions = KRaftVersions()

    def endpoint(self, listener_name: str) -> VoterEndpoint | None:
        for endpoint in self.endpoints:
            if endpoint.name == listener_name:
                return endpoint
        return None


@dataclass(frozen=True, slots=True)
class VoterSet:
    """Voters ordered by id, each id once."""

    voters: tuple[Voter, ...] = ()

    @classmethod
    def of(cls, voters: Iterable[Voter]) -> VoterSet:
        by_id = {voter.key.id: voter for voter in voters}
        return cls(tuple(by_id[voter_id] for voter_id in sorted(by_id)))

    @classmethod
    def from_record(cls, record: VotersRecord) -> VoterSet:
        return cls.of(
            Voter(
                ReplicaKey(voter.voter_id, voter.voter_directory_id),
                tuple(VoterEndpoint(end.name, end.host, end.port) for end in voter.endpoints),
                KRaftVersions(
                    voter.kraft_version_feature.min_supported_version,
                    voter.kraft_version_feature.max_supported_version,
                ),
            )
            for voter in record.voters
        )

    def to_record(self) -> VotersRecord:
        return VotersRecord(
            voters=[
                VotersRecordVoter(
                    voter_id=voter.key.id,
                    voter_directory_id=voter.key.directory_id,
                    endpoints=[
                        EndpointRecord(name=end.name, host=end.host, port=end.port)
                        for end in voter.endpoints
                    ],
                    kraft_version_feature=KRaftVersionFeature(
                        min_supported_version=voter.kraft_versions.lowest,
                        max_supported_version=voter.kraft_versions.highest,
                    ),
                )
                for voter in self.voters
            ]
        )

    @property
    def ids(self) -> list[int]:
        return [voter.key.id for voter in self.voters]

    @property
    def keys(self) -> list[ReplicaKey]:
        return [voter.key for voter in self.voters]

    @property
    def majority(self) -> int:
        return len(self.voters) // 2 + 1

    def get(self, voter_id: int) -> Voter | None:
        for voter in self.voters:
            if voter.key.id == voter_id:
                return voter
        return None

    def has(self, key: ReplicaKey) -> bool:
        voter = self.get(key.id)
        return voter is not None and voter.key.admits(key)

    def needs_update(self, voter: Voter) -> bool:
        """Whether the set has this voter with other endpoints or versions."""
        return self.has(voter.key) and self.get(voter.key.id) != voter

    def added(self, voter: Voter) -> VoterSet | None:
        if self.get(voter.key.id) is not None:
            return None
        return VoterSet.of((*self.voters, voter))

    def removed(self, key: ReplicaKey) -> VoterSet | None:
        """None if there is no such voter, or if it is the only one."""
        if key not in self.keys or len(self.voters) == 1:
            return None
        return VoterSet(tuple(voter for voter in self.voters if voter.key != key))

    def updated(self, voter: Voter) -> VoterSet | None:
        return VoterSet.of((*self.voters, voter)) if self.has(voter.key) else None

    def overlaps(self, other: VoterSet) -> bool:
        """Whether every majority of one set shares a voter with every majority of the other, which
        is true if they differ by at most one voter."""
        ours, theirs = set(self.keys), set(other.keys)
        return len(ours - theirs) <= 1 and len(theirs - ours) <= 1


NO_VOTERS: Final = VoterSet()
