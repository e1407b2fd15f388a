"""Directories written by a real Apache Kafka broker, and what Kafka itself reads in them.

`clean` is a whole data directory after an orderly stop, `unclean` the same one later, after its
broker was killed. Names are those, or one partition of them: `clean/plain-0`. Made by
tests/fixtures/make_kafka_fixtures.py; reading them needs no Java.

Partitions: `plain-0` (segments, leader epochs), `trimmed-0` (log start offset inside a segment),
`codecs-0` (all five, headers, null keys and values), `append_time-0` (LogAppendTime),
`idempotent-0`, `transactions-0` (committed, aborted, interleaved, one left open), `compacted-0`
(tombstones with a delete horizon), `compacted_txn-0` (delete.retention.ms=1: markers and tombstones
go), `compacted_txn_kept-0` (they stay for a day), `__consumer_offsets-0`, `__transaction_state-0`
and `__cluster_metadata-0`.
"""

import functools
import gzip
import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.kafka.log import KafkaLog, log_from_json
from tests.conformance.kafka.records import KafkaBatch, KafkaRecord, KafkaRecords, records_from_json

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "kafka"


@dataclass(frozen=True, slots=True)
class ExpectedPartition:
    """A partition as Kafka opens it (`log`) and reads its files (`segments`, by base offset)."""

    log: KafkaLog
    segments: dict[int, KafkaRecords]

    @property
    def batches(self) -> list[KafkaBatch]:
        return [batch for records in self.segments.values() for batch in records.batches]

    @property
    def records(self) -> list[KafkaRecord]:
        return [record for batch in self.batches for record in batch.records]


def extract(name: str, into: Path) -> Path:
    """Unpacks a fixture into a directory and returns the path of what was asked for.

    A partition comes with the files of the data directory that are beside it, its checkpoints.
    """
    archive, _, partition = name.partition("/")
    with tarfile.open(fileobj=io.BytesIO(_unzipped(archive))) as tar:
        members = [
            member
            for member in tar
            if not partition
            or (member.isfile() and member.name.rpartition("/")[0] in ("", partition))
        ]
        # Python 3.11 has filters from 3.11.4 on; distributions have it from before that.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(into, members)
    found = into / partition
    assert found.exists(), f"there is no fixture {name}"
    return found


def expected(name: str) -> ExpectedPartition:
    """What Kafka itself makes of a partition, such as `clean/plain-0`."""
    archive, _, partition = name.partition("/")
    data = _expectations(archive)[partition]
    return ExpectedPartition(
        log=log_from_json(data["log"]),
        segments={
            int(base): records_from_json(records) for base, records in data["segments"].items()
        },
    )


def partition_names(archive: str) -> list[str]:
    """The partitions of `clean` or `unclean`, by the names that `expected` and `extract` take."""
    return [f"{archive}/{partition}" for partition in _expectations(archive)]


def partitions(directory: Path) -> list[Path]:
    """The partitions' directories inside a data directory."""
    return sorted(path for path in directory.iterdir() if path.is_dir())


@functools.cache
def _unzipped(archive: str) -> bytes:
    return gzip.decompress((FOLDER / f"{archive}.tar.gz").read_bytes())


@functools.cache
def _expectations(archive: str) -> dict[str, Any]:
    with gzip.open(FOLDER / f"{archive}.json.gz") as compressed:
        loaded: dict[str, Any] = json.load(compressed)
        return loaded
