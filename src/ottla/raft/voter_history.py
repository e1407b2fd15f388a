"""Which voters and which version of the protocol the log says there are, by offset (KIP-853).

A set of voters counts as soon as it is appended, committed or not: the majority that commits it is
its own. Hence truncation takes sets back, and what was there before counts again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.raft.voters import VoterSet
from ottla.wire.schema import Message
from ottla.wire.stored.quorum import KRaftVersionRecord, VotersRecord


class ControlRecord(NamedTuple):
    """A record of the quorum's own, where it stands in the log.

    Those of a snapshot stand at the last offset that it contains: -1 for the one that formatting
    leaves, which no leader has written to the log yet.
    """

    offset: int
    record: Message


class QuorumVersion(NamedTuple):
    """What a snapshot has to say about the quorum."""

    kraft_version: int
    voters: VoterSet | None


class VoterHistory:
    """Made from all control records of the latest snapshot and of the log after it."""

    def __init__(self, static_voters: VoterSet, records: Iterable[ControlRecord]) -> None:
        self._static_voters = static_voters
        self._voters: list[tuple[int, VoterSet]] = []
        self._versions: list[tuple[int, int]] = []
        self.add(records)

    def add(self, records: Iterable[ControlRecord]) -> None:
        """Takes in what was appended. Records of other types mean nothing here."""
        for offset, record in records:
            if isinstance(record, VotersRecord):
                voters = VoterSet.from_record(record)
                last_offset = self.voters_offset
                assert last_offset is None or last_offset < 0 or self.voters.overlaps(voters), (
                    f"no common majority: {self.voters} and, at offset {offset}, {voters}"
                )
                self._voters.append((offset, voters))
            elif isinstance(record, KRaftVersionRecord):
                self._versions.append((offset, record.kraft_version))

    def truncate(self, end_offset: int) -> None:
        """Forgets what stood at an offset and after it."""
        self._voters = [entry for entry in self._voters if entry[0] < end_offset]
        self._versions = [entry for entry in self._versions if entry[0] < end_offset]

    def replace(self, records: Iterable[ControlRecord]) -> None:
        """Begins again with the records of a snapshot in whose place the log went."""
        self._voters.clear()
        self._versions.clear()
        self.add(records)

    @property
    def voters(self) -> VoterSet:
        return self._voters[-1][1] if self._voters else self._static_voters

    @property
    def voters_offset(self) -> int | None:
        """Where the latest set stands; None while it is the configured one."""
        return self._voters[-1][0] if self._voters else None

    @property
    def previous_voters(self) -> VoterSet:
        """Those that count again if the latest set is taken back."""
        return self._voters[-2][1] if len(self._voters) > 1 else self._static_voters

    @property
    def kraft_version(self) -> int:
        return self._versions[-1][1] if self._versions else 0

    def at(self, end_offset: int) -> QuorumVersion:
        """What a snapshot of everything below an offset has to say."""
        voters = [voters for offset, voters in self._voters if offset < end_offset]
        versions = [version for offset, version in self._versions if offset < end_offset]
        return QuorumVersion(versions[-1] if versions else 0, voters[-1] if voters else None)
