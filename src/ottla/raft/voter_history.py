"""The voter sets and kraft.version levels in the log, by offset (KIP-853).

A voter set is in effect as soon as it is appended, committed or not: it is committed by its own
majority. So truncation can remove a set, and the previous one is in effect again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.raft.voters import VoterSet
from ottla.wire.schema import Message
from ottla.wire.stored.quorum import KRaftVersionRecord, VotersRecord


class ControlRecord(NamedTuple):
    """A control record of the quorum and its offset.

    Records of a snapshot have the last offset that it contains; for the snapshot written by
    formatting that is -1, and means that no leader has written the records to the log yet.
    """

    offset: int
    record: Message


class QuorumVersion(NamedTuple):
    """The kraft.version and voters to put in a snapshot."""

    kraft_version: int
    voters: VoterSet | None


class VoterHistory:
    """Created from all control records of the latest snapshot and of the log after it."""

    def __init__(self, static_voters: VoterSet, records: Iterable[ControlRecord]) -> None:
        self._static_voters = static_voters
        self._voters: list[tuple[int, VoterSet]] = []
        self._versions: list[tuple[int, int]] = []
        self.add(records)

    def add(self, records: Iterable[ControlRecord]) -> None:
        """Adds appended records. Records of other types are ignored."""
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
        """Removes entries at this offset and above."""
        self._voters = [entry for entry in self._voters if entry[0] < end_offset]
        self._versions = [entry for entry in self._versions if entry[0] < end_offset]

    def replace(self, records: Iterable[ControlRecord]) -> None:
        """Starts again with the records of a snapshot that replaced the log."""
        self._voters.clear()
        self._versions.clear()
        self.add(records)

    @property
    def voters(self) -> VoterSet:
        return self._voters[-1][1] if self._voters else self._static_voters

    @property
    def voters_offset(self) -> int | None:
        """The offset of the current set; None while it is the configured (static) one."""
        return self._voters[-1][0] if self._voters else None

    @property
    def previous_voters(self) -> VoterSet:
        """The set that is in effect again if the current one is truncated."""
        return self._voters[-2][1] if len(self._voters) > 1 else self._static_voters

    @property
    def kraft_version(self) -> int:
        return self._versions[-1][1] if self._versions else 0

    def at(self, end_offset: int) -> QuorumVersion:
        """The state for a snapshot of all records below an offset."""
        voters = [voters for offset, voters in self._voters if offset < end_offset]
        versions = [version for offset, version in self._versions if offset < end_offset]
        return QuorumVersion(versions[-1] if versions else 0, voters[-1] if voters else None)
