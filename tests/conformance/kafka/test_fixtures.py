"""The fixtures are what they claim to be, in the eyes of the Kafka that wrote them."""

from pathlib import Path

import pytest

from tests.conformance.kafka.judge import Judge
from tests.support.kafka.kafka_fixtures import expected, extract, partition_names


@pytest.mark.parametrize("name", [*partition_names("clean"), *partition_names("unclean")])
def test_expectation_covers_the_files(tmp_path: Path, name: str) -> None:
    partition = extract(name, tmp_path)
    kafka = expected(name)
    assert [int(path.stem) for path in sorted(partition.glob("*.log"))] == list(kafka.segments)
    assert [segment.base_offset for segment in kafka.log.segments] == list(kafka.segments)
    assert all(records.error is None for records in kafka.segments.values())
    assert all(records.trailing_bytes == 0 for records in kafka.segments.values())
    assert all(batch.is_valid and batch.error is None for batch in kafka.batches)
    assert kafka.batches[-1].last_offset + 1 == kafka.log.log_end_offset


@pytest.mark.java
@pytest.mark.parametrize("name", partition_names("clean"))
def test_kafka_accepts_what_it_wrote(judge: Judge, tmp_path: Path, name: str) -> None:
    judge.assert_accepts(extract(name, tmp_path), compacted="compacted" in name)


@pytest.mark.java
@pytest.mark.parametrize("name", partition_names("unclean"))
def test_kafka_opens_an_unclean_directory_without_its_checkpoints(
    judge: Judge, tmp_path: Path, name: str
) -> None:
    log = judge.open_log(extract(name, tmp_path), last_shutdown_clean=False)
    assert log.log_end_offset == expected(name).log.log_end_offset


def test_clean_directory_holds_every_kind_of_file(tmp_path: Path) -> None:
    files = {path.name for path in extract("clean", tmp_path).iterdir() if path.is_file()}
    assert files == {
        ".kafka_cleanshutdown",
        "bootstrap.checkpoint",
        "cleaner-offset-checkpoint",
        "log-start-offset-checkpoint",
        "meta.properties",
        "recovery-point-offset-checkpoint",
        "replication-offset-checkpoint",
    }


def test_unclean_directory_has_preallocated_indexes_and_no_marker(tmp_path: Path) -> None:
    directory = extract("unclean", tmp_path)
    assert not (directory / ".kafka_cleanshutdown").exists()
    assert (directory / "plain-0" / "00000000000000000145.index").stat().st_size == 8192


def test_fixtures_cover_codecs_headers_and_missing_keys_and_values() -> None:
    batches = expected("clean/codecs-0").batches
    assert {batch.compression for batch in batches} == {"none", "gzip", "snappy", "lz4", "zstd"}
    records = expected("clean/codecs-0").records
    assert any(record.key is None for record in records)
    assert any(record.value is None for record in records)
    assert any(value is None for record in records for _, value in record.headers)


def test_fixtures_cover_epochs_transactions_and_compaction() -> None:
    assert len(expected("clean/plain-0").log.leader_epochs) == 2
    transactions = expected("clean/transactions-0").log
    assert transactions.aborted_txns
    assert transactions.last_stable_offset < transactions.log_end_offset
    assert any(producer.current_txn_first_offset for producer in transactions.producers)
    assert expected("clean/trimmed-0").log.log_start_offset == 35
    assert any(batch.delete_horizon_ms for batch in expected("clean/compacted-0").batches)
    assert any(batch.count == 0 for batch in expected("clean/compacted_txn-0").batches)
    assert {batch.timestamp_type for batch in expected("clean/append_time-0").batches} == {
        "LogAppendTime"
    }
