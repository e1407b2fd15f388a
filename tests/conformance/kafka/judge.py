"""Apache Kafka itself as a judge: a Java process that reads and writes with Kafka's own classes.

The tests that use it take the session fixture `judge`, which skips where Java or Kafka's jars are
missing (`make judge` brings the jars).
"""

import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.kafka.complaints import rightful
from tests.conformance.kafka.dump import Dump, parse_dump
from tests.conformance.kafka.log import KafkaLog, log_from_json
from tests.conformance.kafka.process import JudgeProcess
from tests.conformance.kafka.records import (
    KafkaRecord,
    KafkaRecords,
    record_to_json,
    records_from_json,
)

DUMPED_SUFFIXES = frozenset(
    {".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint"}
)
SANITY_SUFFIXES = frozenset({".index", ".timeindex"})


class Item(NamedTuple):
    """A message to parse: the simple name of Kafka's class, a version, the bytes."""

    message: str
    version: int
    data: bytes


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """What Kafka's class made of an item: `data` written again, or the `error` it threw."""

    data: bytes
    json: Any
    unread: int
    error: str | None


class Judge:
    """Asks Kafka's classes, in a process that the first question starts and `close` ends.

    A question that Kafka answers with an exception raises JudgeError, unless it is the answer.
    """

    def __init__(self) -> None:
        self._process = JudgeProcess()
        self.send_command = self._process.send_command
        self.close = self._process.close

    def dump(self, files: Sequence[Path], *options: str) -> Dump:
        """Runs DumpLogSegments over files with further options (`--deep-iteration`, ...).

        Paths must not hold commas: the tool takes one list of names separated by them.
        """
        assert not any("," in str(file) for file in files)
        arguments = ["--files", ",".join(map(str, files)), *options]
        answer = self.send_command("dump", arguments=arguments)
        return parse_dump(
            stdout=answer["stdout"], stderr=answer["stderr"], exception=answer.get("exception")
        )

    def problems(
        self, directory: Path, *, compacted: bool = False, metadata: bool = False
    ) -> list[str]:
        """What DumpLogSegments has against a partition's files.

        A compacted log may have gaps. The records of a log of metadata have to be Kafka's own.
        """
        files = sorted(path for path in directory.iterdir() if path.suffix in DUMPED_SUFFIXES)
        # The tool would create an index that is missing, empty: look before it does.
        if missing := _missing(files):
            return missing
        if not files:
            return [f"{directory} holds no file that DumpLogSegments knows"]
        options = ["--deep-iteration", "--max-message-size", str(2**31 - 1)]
        if metadata:
            options.append("--cluster-metadata-decoder")
        deep = self.dump(files, *options)
        found = rightful(deep.problems, compacted=compacted)
        found += _undecoded(deep) + _misplaced(deep)
        indexes = [path for path in files if path.suffix in SANITY_SUFFIXES]
        if indexes:
            found += self.dump(indexes, "--index-sanity-check").problems
        return found

    def assert_accepts(
        self, directory: Path, *, compacted: bool = False, metadata: bool = False
    ) -> None:
        """Asserts that Kafka's own tool finds nothing wrong, deep and with index sanity checks."""
        found = self.problems(directory, compacted=compacted, metadata=metadata)
        assert not found, "Kafka's DumpLogSegments reports:\n" + "\n".join(found)

    def assert_sane(self, indexes: Sequence[Path]) -> None:
        """Asserts that indexes pass their own checks, whatever is in the logs beside them."""
        found = self.dump(indexes, "--index-sanity-check").problems
        assert not found, "Kafka's DumpLogSegments reports:\n" + "\n".join(found)

    def roundtrip(self, items: Iterable[Item]) -> list[RoundTrip]:
        """Parses each item with Kafka's class and writes it again; one question for all of them."""
        answers = self.send_command(
            "roundtrip", items=[(name, v, data.hex()) for name, v, data in items]
        )
        return [
            RoundTrip(
                data=bytes.fromhex(answer.get("hex", "")),
                json=answer.get("json"),
                unread=answer.get("unread", 0),
                error=answer.get("error"),
            )
            for answer in answers
        ]

    def assert_same_bytes(self, items: Sequence[Item]) -> None:
        """Asserts that Kafka reads every item to its end and would write the same bytes."""
        for item, answer in zip(items, self.roundtrip(items), strict=True):
            name = f"{item.message} v{item.version} {item.data.hex()}"
            assert answer.error is None, f"{name}: {answer.error}"
            assert answer.unread == 0, f"{name}: Kafka left {answer.unread} bytes unread"
            assert answer.data == item.data, f"{name}: Kafka writes {answer.data.hex()}"

    def records(self, data: bytes | Path) -> KafkaRecords:
        """Reads the batches of a file or of bytes, with all their records."""
        if isinstance(data, Path):
            return records_from_json(self.send_command("records", file=str(data)))
        return records_from_json(self.send_command("records", hex=data.hex()))

    def build_batch(
        self,
        records: Iterable[KafkaRecord],
        *,
        compression: str = "none",
        timestamp_type: str = "CreateTime",
        log_append_time: int = -1,
        base_offset: int = 0,
        last_offset: int | None = None,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        partition_leader_epoch: int = -1,
        is_transactional: bool = False,
        is_control: bool = False,
        delete_horizon_ms: int | None = None,
    ) -> bytes:
        """A batch that Kafka's builder writes; records carry their own offsets."""
        answer = self.send_command(
            "build_records",
            records=[record_to_json(record) for record in records],
            compression=compression,
            timestamp_type=timestamp_type,
            log_append_time=log_append_time,
            base_offset=base_offset,
            last_offset=last_offset,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            partition_leader_epoch=partition_leader_epoch,
            is_transactional=is_transactional,
            is_control=is_control,
            delete_horizon_ms=delete_horizon_ms,
        )
        return bytes.fromhex(answer)

    def build_empty_batch(
        self,
        *,
        base_offset: int,
        last_offset: int,
        max_timestamp: int,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        partition_leader_epoch: int = -1,
        is_transactional: bool = False,
        is_control: bool = False,
    ) -> bytes:
        """The batch without records that the cleaner leaves to remember a producer."""
        answer = self.send_command(
            "build_empty_batch",
            base_offset=base_offset,
            last_offset=last_offset,
            max_timestamp=max_timestamp,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            partition_leader_epoch=partition_leader_epoch,
            is_transactional=is_transactional,
            is_control=is_control,
        )
        return bytes.fromhex(answer)

    def open_log(
        self,
        directory: Path,
        *,
        last_shutdown_clean: bool,
        log_start_offset: int = 0,
        recovery_point: int = 0,
        now_ms: int = 0,
        producer_id_expiration_ms: int = 2**31 - 1,
        config: Mapping[str, str] | None = None,
    ) -> KafkaLog:
        """Opens a copy of a partition's directory as a starting broker would.

        The directory has a partition's name (`topic-0`). After an unclean shutdown Kafka recovers
        what lies behind the recovery point. The clock stands at `now_ms`: at 0 no producer expires.
        `config` holds the topic's configs; `index.interval.bytes` shapes indexes that are rebuilt.
        """
        with tempfile.TemporaryDirectory() as scratch:
            copy = shutil.copytree(directory, Path(scratch) / directory.name)
            return log_from_json(
                self.send_command(
                    "open_log",
                    directory=str(copy),
                    last_shutdown_clean=last_shutdown_clean,
                    log_start_offset=log_start_offset,
                    recovery_point=recovery_point,
                    now_ms=now_ms,
                    producer_id_expiration_ms=producer_id_expiration_ms,
                    config=config or {},
                )
            )


def _undecoded(dump: Dump) -> list[str]:
    """Metadata records that Kafka's classes could not read, which the tool shows as payloads."""
    return [
        f"{file.path}: {record.rest}"
        for file in dump.files
        for record in file.records
        if record.rest.startswith(" payload: Error at ")
    ]


def _misplaced(dump: Dump) -> list[str]:
    """Aborted transactions that Kafka would not open a log with; the tool shows any."""
    return [
        f"{file.path}: {txn}"
        for file in dump.files
        for txn in file.aborted
        if not int(Path(file.path).stem) <= txn.last_offset >= txn.first_offset >= 0
    ]


def _missing(files: Iterable[Path]) -> list[str]:
    present = set(files)
    return [
        f"{log.with_suffix(suffix)} is missing"
        for log in present
        if log.suffix in {".log", ".index", ".timeindex"}
        for suffix in (".log", ".index", ".timeindex")
        if log.with_suffix(suffix) not in present
    ]
