"""What Kafka's DumpLogSegments printed, as values.

The tool reports what it finds wrong as text: some on standard output (an invalid checksum, invalid
bytes at the end, an unknown file), some on standard error (mismatching indexes, gaps in offsets, a
corrupt producer snapshot), and some as an exception. `Dump.problems` holds all of it. A line that
is not known here is a problem too, so that an unexpected message cannot pass as approval.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class DumpedBatch:
    base_offset: int
    last_offset: int
    count: int
    base_sequence: int
    last_sequence: int
    producer_id: int
    producer_epoch: int
    partition_leader_epoch: int
    is_transactional: bool
    is_control: bool
    delete_horizon_ms: int | None
    position: int
    timestamp_type: str
    max_timestamp: int
    size: int
    magic: int
    compression: str
    crc: int
    is_valid: bool


@dataclass(frozen=True, slots=True)
class DumpedRecord:
    """One record; `rest` is what follows its metadata: a control record's content, key, payload."""

    offset: int
    timestamp_type: str
    timestamp: int
    key_size: int
    value_size: int
    sequence: int
    header_keys: str
    rest: str


@dataclass(frozen=True, slots=True)
class DumpedIndexEntry:
    offset: int
    position: int


@dataclass(frozen=True, slots=True)
class DumpedTimeIndexEntry:
    timestamp: int
    offset: int


@dataclass(frozen=True, slots=True)
class DumpedAbortedTxn:
    version: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


@dataclass(frozen=True, slots=True)
class DumpedProducer:
    """A producer snapshot's entry; a producer that only wrote a marker has no last batch."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    current_txn_first_offset: int | None
    last_timestamp: int
    first_sequence: int | None
    last_sequence: int | None
    last_offset: int | None
    offset_delta: int | None
    timestamp: int | None


@dataclass(slots=True)
class DumpedFile:
    """The lines that the tool printed about one file, sorted by kind."""

    path: str
    batches: list[DumpedBatch] = field(default_factory=list)
    records: list[DumpedRecord] = field(default_factory=list)
    index: list[DumpedIndexEntry] = field(default_factory=list)
    time_index: list[DumpedTimeIndexEntry] = field(default_factory=list)
    aborted: list[DumpedAbortedTxn] = field(default_factory=list)
    producers: list[DumpedProducer] = field(default_factory=list)


@dataclass(slots=True)
class Dump:
    files: list[DumpedFile]
    problems: list[str]
    stdout: Sequence[str]


BATCH = re.compile(
    r"baseOffset: (-?\d+) lastOffset: (-?\d+) count: (-?\d+) baseSequence: (-?\d+)"
    r" lastSequence: (-?\d+) producerId: (-?\d+) producerEpoch: (-?\d+)"
    r" partitionLeaderEpoch: (-?\d+) isTransactional: (\w+) isControl: (\w+)"
    r" deleteHorizonMs: OptionalLong(?:\.empty|\[(-?\d+)\]) position: (\d+) (\w+): (-?\d+)"
    r" size: (\d+) magic: (\d+) compresscodec: (\w+) crc: (\d+) isvalid: (\w+)"
)
RECORD = re.compile(
    r"\| offset: (-?\d+) (\w+): (-?\d+) keySize: (-?\d+) valueSize: (-?\d+)"
    r" sequence: (-?\d+) headerKeys: \[(.*?)\](.*)",
    re.DOTALL,
)
INDEX_ENTRY = re.compile(r"offset: (-?\d+) position: (-?\d+)")
TIME_INDEX_ENTRY = re.compile(r"timestamp: (-?\d+) offset: (-?\d+)")
ABORTED_TXN = re.compile(
    r"version: (\d+) producerId: (-?\d+) firstOffset: (-?\d+) lastOffset: (-?\d+)"
    r" lastStableOffset: (-?\d+)"
)
PRODUCER = re.compile(
    r"producerId: (-?\d+) producerEpoch: (-?\d+) coordinatorEpoch: (-?\d+)"
    r" currentTxnFirstOffset: OptionalLong(?:\.empty|\[(-?\d+)\])"
    r" lastTimestamp: (-?\d+)\s*"
    r"(?:firstSequence: (-?\d+) lastSequence: (-?\d+) lastOffset: (-?\d+) offsetDelta: (-?\d+)"
    r" timestamp: (-?\d+))?\s*"
)
DUMPING = re.compile(r"Dumping (.*)")
HARMLESS = re.compile(
    r"Log starting offset: \d+|Snapshot end offset: \d+, epoch: \d+|KRaft bootstrap snapshot"
    r"|.* is empty\.|.* passed sanity check\.|\|?\s*|\|  ?(?:key|payload): .*",
    re.DOTALL,
)


def parse_dump(*, stdout: Sequence[str], stderr: Sequence[str], exception: str | None) -> Dump:
    dump = Dump(files=[DumpedFile("")], problems=[], stdout=stdout)
    for line in stdout:
        if found := DUMPING.fullmatch(line):
            dump.files.append(DumpedFile(found[1]))
        elif not _add(dump.files[-1], line):
            dump.problems.append(f"{dump.files[-1].path}: {line}")
    dump.problems += _invalid_batches(dump.files)
    dump.problems += [line for line in stderr if line.strip()]
    if exception is not None:
        dump.problems.append(exception)
    del dump.files[0]
    return dump


def _invalid_batches(files: list[DumpedFile]) -> Iterator[str]:
    for file in files:
        for batch in file.batches:
            if not batch.is_valid:
                yield f"{file.path}: batch at offset {batch.base_offset} is not valid"


def _add(file: DumpedFile, line: str) -> bool:
    """Sorts a line into its file; says whether the line is known and harmless."""
    if found := RECORD.fullmatch(line):
        file.records.append(DumpedRecord(*_values(found)[:6], *found.groups()[6:]))
    elif found := BATCH.fullmatch(line):
        file.batches.append(DumpedBatch(*_values(found)))
    elif found := INDEX_ENTRY.fullmatch(line):
        file.index.append(DumpedIndexEntry(*_values(found)))
    elif found := TIME_INDEX_ENTRY.fullmatch(line):
        file.time_index.append(DumpedTimeIndexEntry(*_values(found)))
    elif found := ABORTED_TXN.fullmatch(line):
        file.aborted.append(DumpedAbortedTxn(*_values(found)))
    elif found := PRODUCER.fullmatch(line):
        file.producers.append(DumpedProducer(*_values(found)))
    else:
        return HARMLESS.fullmatch(line) is not None
    return True


def _values(found: re.Match[str]) -> list[Any]:
    return [_value(text) for text in found.groups()]


def _value(text: str | None) -> int | bool | str | None:
    if text in ("true", "false"):
        return text == "true"
    if text is not None and re.fullmatch(r"-?\d+", text):
        return int(text)
    return text
