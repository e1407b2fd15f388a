"""A replica's disk for tests of the quorum: a log in memory that loses what was not flushed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ottla.raft import BOOTSTRAP_SNAPSHOT_ID, ControlRecord, OffsetAndEpoch, QuorumVersion
from ottla.wire.schema import Message
from ottla.wire.stored.quorum import KRaftVersionRecord, LeaderChangeMessage, VotersRecord
from ottla.wire.stored.quorum_state import QuorumStateData

_CONTROL = {cls.__name__: cls for cls in (LeaderChangeMessage, KRaftVersionRecord, VotersRecord)}


class Entry(NamedTuple):
    """A record: the quorum's own, or any text."""

    epoch: int
    value: str | Message

    def __str__(self) -> str:
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, VotersRecord):
            return "voters " + ",".join(str(voter.voter_id) for voter in self.value.voters)
        if isinstance(self.value, KRaftVersionRecord):
            return f"kraft.version {self.value.kraft_version}"
        return "leader-change"


class StoredSnapshot(NamedTuple):
    """The records below its end and the quorum at that time, as bytes that can be sent."""

    entries: tuple[Entry, ...]
    control: tuple[Message, ...]

    def encode(self) -> bytes:
        return encode([*self.entries, Entry(0, "--"), *(Entry(0, each) for each in self.control)])

    @classmethod
    def decode(cls, data: bytes) -> StoredSnapshot:
        entries = decode(data)
        end = entries.index(Entry(0, "--"))
        control = [each.value for each in entries[end + 1 :]]
        return cls(
            tuple(entries[:end]), tuple(each for each in control if isinstance(each, Message))
        )


def encode(entries: Sequence[Entry]) -> bytes:
    lines = []
    for epoch, value in entries:
        if isinstance(value, str):
            lines.append(json.dumps([epoch, "", value]))
        else:
            lines.append(json.dumps([epoch, type(value).__name__, value.encode(0).hex()]))
    return "".join(line + "\n" for line in lines).encode()


def decode(data: bytes) -> list[Entry]:
    entries = []
    for line in data.decode().splitlines():
        epoch, kind, text = json.loads(line)
        value = _CONTROL[kind].decode(bytes.fromhex(text), 0) if kind else text
        entries.append(Entry(epoch, value))
    return entries


@dataclass
class MemoryLog:
    """`ReplicatedLog` over a list. Entries below `flushed_end_offset` survive `crash`."""

    start: OffsetAndEpoch = BOOTSTRAP_SNAPSHOT_ID
    entries: list[Entry] = field(default_factory=list)
    flushed_end_offset: int = 0
    snapshots: dict[OffsetAndEpoch, StoredSnapshot] = field(default_factory=dict)

    @property
    def end(self) -> OffsetAndEpoch:
        epoch = self.entries[-1].epoch if self.entries else self.start.epoch
        return OffsetAndEpoch(self.start.offset + len(self.entries), epoch)

    def end_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        found = self.start
        for offset, entry in enumerate(self.entries, start=self.start.offset):
            if entry.epoch <= epoch:
                found = OffsetAndEpoch(offset + 1, entry.epoch)
        return found

    @property
    def latest_snapshot_id(self) -> OffsetAndEpoch | None:
        return max(self.snapshots, default=None)

    def snapshot_size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        snapshot = self.snapshots.get(snapshot_id)
        return None if snapshot is None else len(snapshot.encode())

    # ---- what the caller does

    def append(self, entries: Sequence[Entry]) -> list[ControlRecord]:
        base_offset = self.end.offset
        self.entries.extend(entries)
        return control_records(entries, base_offset)

    def read(self, offset: int, bytes_max: int) -> bytes:
        entries = self.entries[offset - self.start.offset :]
        count = 1
        while count < len(entries) and len(encode(entries[: count + 1])) <= bytes_max:
            count += 1
        return encode(entries[:count])

    def truncate_to(self, offset: int) -> None:
        assert self.start.offset <= offset <= self.end.offset
        del self.entries[offset - self.start.offset :]
        self.flushed_end_offset = min(self.flushed_end_offset, offset)

    def flush(self) -> None:
        self.flushed_end_offset = self.end.offset

    def crash(self) -> None:
        self.truncate_to(self.flushed_end_offset)

    def snapshot(self, end_offset: int, quorum: QuorumVersion) -> None:
        """Puts what is below an offset into a snapshot, and lets the log begin there."""
        end = OffsetAndEpoch(end_offset, self.entries[end_offset - self.start.offset - 1].epoch)
        control: list[Message] = [KRaftVersionRecord(kraft_version=quorum.kraft_version)]
        if quorum.voters is not None:
            control.append(quorum.voters.to_record())
        entries = tuple(self.all_entries()[:end_offset])
        self.snapshots = {end: StoredSnapshot(entries, tuple(control))}
        del self.entries[: end_offset - self.start.offset]
        self.start = end
        self.flushed_end_offset = max(self.flushed_end_offset, end_offset)

    def install(self, snapshot_id: OffsetAndEpoch, data: bytes) -> list[ControlRecord]:
        self.snapshots = {snapshot_id: StoredSnapshot.decode(data)}
        self.start = snapshot_id
        self.entries = []
        self.flushed_end_offset = snapshot_id.offset
        return self.snapshot_records()

    def snapshot_records(self) -> list[ControlRecord]:
        snapshot_id = self.latest_snapshot_id
        if snapshot_id is None:
            return []
        control = self.snapshots[snapshot_id].control
        return [ControlRecord(snapshot_id.offset - 1, record) for record in control]

    def all_control_records(self) -> list[ControlRecord]:
        return [*self.snapshot_records(), *control_records(self.entries, self.start.offset)]

    def all_entries(self) -> list[Entry]:
        """From offset 0 on: a snapshot here remembers what it stands for."""
        snapshot_id = self.latest_snapshot_id
        before = self.snapshots[snapshot_id].entries if snapshot_id else ()
        return [*before[: self.start.offset], *self.entries]


@dataclass
class ReplicaDisk:
    """What a crash leaves."""

    log: MemoryLog = field(default_factory=MemoryLog)
    quorum_state: QuorumStateData | None = None


def control_records(entries: Sequence[Entry], base_offset: int) -> list[ControlRecord]:
    return [
        ControlRecord(offset, entry.value)
        for offset, entry in enumerate(entries, start=base_offset)
        if isinstance(entry.value, Message)
    ]
