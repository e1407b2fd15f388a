"""The judge condemns what is broken: a judge that cannot do so proves nothing."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.kafka.judge import Item, Judge
from tests.conformance.kafka.process import JudgeError, JudgeProcess
from tests.conformance.kafka.records import KafkaRecord

pytestmark = pytest.mark.java

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LOG = "00000000000000000000.log"


def three_records(*, first: int = 0) -> list[KafkaRecord]:
    return [
        KafkaRecord(first, 1_700_000_000_000, b"key", b"value", (("h\n]", b"1"), ("empty", None))),
        KafkaRecord(first + 1, 1_700_000_000_001, None, b"x" * 300),
        KafkaRecord(first + 2, 1_700_000_000_002, b"tombstone", None),
    ]


@pytest.fixture
def partition(judge: Judge, tmp_path: Path) -> Path:
    """A directory with one segment of two batches, the second of them indexed."""
    first = judge.build_batch(three_records(), partition_leader_epoch=0)
    second = judge.build_batch(three_records(first=3), base_offset=3, partition_leader_epoch=0)
    log = tmp_path / LOG
    log.write_bytes(first + second)
    log.with_suffix(".index").write_bytes(struct.pack(">ii", 5, len(first)))
    log.with_suffix(".timeindex").write_bytes(struct.pack(">qi", 1_700_000_000_002, 2))
    return tmp_path


def test_good_files_are_accepted(judge: Judge, partition: Path) -> None:
    judge.assert_accepts(partition)


def test_dump_is_parsed_into_batches_records_and_index_entries(
    judge: Judge, partition: Path
) -> None:
    files = sorted(partition.iterdir())
    index, log, time_index = judge.dump(files, "--deep-iteration").files
    assert [(batch.base_offset, batch.last_offset) for batch in log.batches] == [(0, 2), (3, 5)]
    assert [record.offset for record in log.records] == list(range(6))
    assert log.records[2].value_size == -1
    assert [entry.position for entry in index.index] == [log.batches[1].position]
    assert [entry.offset for entry in time_index.time_index] == [2]


def spoil(file: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def spoil_in(directory: Path) -> None:
        path = directory / file
        path.write_bytes(change(path.read_bytes()))

    return spoil_in


@pytest.mark.parametrize(
    ("spoil_in", "complaint"),
    [
        (spoil(LOG, lambda data: data[:-1] + b"?"), "is not valid"),
        (spoil(LOG, lambda data: data + b"torn"), "4 invalid bytes at the end"),
        (spoil(LOG, lambda data: data + bytes(20)), "CorruptRecordException"),
        (spoil(LOG, lambda data: data + data), "Non-consecutive offsets"),
        (spoil(LOG, lambda data: b""), "Exception"),
        (
            spoil(LOG.replace("log", "index"), lambda data: struct.pack(">i", 4) + data[4:]),
            "Mismatches in",
        ),
        (
            spoil(LOG.replace("log", "index"), lambda data: struct.pack(">ii", -5, 0)),
            "CorruptIndexException",
        ),
        (
            spoil(LOG.replace("log", "timeindex"), lambda data: struct.pack(">qi", 1, 2)),
            "Found timestamp mismatch",
        ),
        (
            spoil(LOG.replace("log", "timeindex"), lambda data: data[:8] + b"\0\0\0\1"),
            "indexed offsets are not found",
        ),
        (
            spoil(LOG.replace("log", "timeindex"), lambda data: data + data),
            "Found out of order timestamp",
        ),
        (
            spoil(LOG.replace("log", "timeindex"), lambda data: data + bytes(12)),
            "CorruptIndexException",
        ),
        (lambda directory: (directory / LOG).with_suffix(".index").unlink(), "is missing"),
        (
            lambda directory: (directory / LOG).with_suffix(".snapshot").write_bytes(bytes(30)),
            "Snapshot contained",
        ),
        (
            lambda directory: (directory / LOG).with_suffix(".txnindex").write_bytes(b"\1" * 34),
            "Exception",
        ),
    ],
)
def test_broken_file_is_condemned(
    judge: Judge, partition: Path, spoil_in: Callable[[Path], None], complaint: str
) -> None:
    spoil_in(partition)
    assert complaint in "\n".join(judge.problems(partition))


def test_gap_is_forgiven_in_a_compacted_log_only(judge: Judge, tmp_path: Path) -> None:
    records = three_records()
    log = tmp_path / LOG
    log.write_bytes(judge.build_batch([records[0], records[2]]))
    log.with_suffix(".index").touch()
    log.with_suffix(".timeindex").touch()
    assert any("0 is followed by 2" in problem for problem in judge.problems(tmp_path))
    judge.assert_accepts(tmp_path, compacted=True)
    log.write_bytes(log.read_bytes() * 2)
    assert any("2 is followed by 0" in line for line in judge.problems(tmp_path, compacted=True))


def test_empty_batch_has_no_timestamp_to_compare_in_a_compacted_log_only(
    judge: Judge, partition: Path
) -> None:
    log = partition / LOG
    empty = judge.build_empty_batch(
        base_offset=0,
        last_offset=2,
        max_timestamp=1_700_000_000_002,
        producer_id=1,
        producer_epoch=0,
        base_sequence=0,
    )
    log.write_bytes(empty)
    log.with_suffix(".index").write_bytes(b"")
    assert any("log timestamp: -1" in problem for problem in judge.problems(partition))
    judge.assert_accepts(partition, compacted=True)


def test_segment_begins_with_the_offset_in_its_name(judge: Judge, partition: Path) -> None:
    second = judge.build_batch(three_records(first=6), base_offset=6)
    for name, accepted in ((6, True), (5, False), (7, False)):
        log = partition / f"{name:020}.log"
        log.write_bytes(second)
        log.with_suffix(".index").touch()
        log.with_suffix(".timeindex").touch()
        assert (judge.problems(partition) == []) == accepted
        for path in (log, log.with_suffix(".index"), log.with_suffix(".timeindex")):
            path.unlink()


def test_empty_directory_is_not_accepted(judge: Judge, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="holds no file"):
        judge.assert_accepts(tmp_path)


def test_roundtrip_gives_kafkas_bytes_and_meaning(judge: Judge) -> None:
    header = Item("RequestHeaderData", 2, bytes.fromhex("000300020000000700016100"))
    [answer] = judge.roundtrip([header])
    judge.assert_same_bytes([header])
    assert answer.json["correlationId"] == 7


@pytest.mark.parametrize(
    ("item", "complaint"),
    [
        (Item("RequestHeaderData", 2, bytes.fromhex("00030002000000070001610000")), "unread"),
        (Item("RequestHeaderData", 2, bytes.fromhex("0003")), "Exception"),
        (Item("TransactionLogValue", 7, bytes(40)), "has no version 7"),
        (Item("NoSuchMessage", 0, b""), "Kafka has no message NoSuchMessage"),
        # A tag number that is not written in its shortest form.
        (Item("RequestHeaderData", 2, bytes.fromhex("0003000200000007000161018f000100")), "writes"),
    ],
)
def test_roundtrip_condemns(judge: Judge, item: Item, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        judge.assert_same_bytes([item])


@pytest.mark.parametrize("codec", CODECS)
def test_built_batch_reads_back_in_every_codec(judge: Judge, codec: str) -> None:
    records = three_records(first=7)
    data = judge.build_batch(
        records,
        compression=codec,
        base_offset=7,
        producer_id=9,
        producer_epoch=1,
        base_sequence=4,
        is_transactional=True,
        partition_leader_epoch=3,
    )
    [batch] = judge.records(data).batches
    assert batch.is_valid
    assert (batch.compression, batch.partition_leader_epoch, batch.last_sequence) == (codec, 3, 6)
    assert [(r.offset, r.key, r.value, r.headers) for r in batch.records] == [
        (r.offset, r.key, r.value, r.headers) for r in records
    ]


def test_dump_distinguishes_a_bad_checksum_and_a_torn_tail(judge: Judge, tmp_path: Path) -> None:
    data = judge.build_batch(three_records())
    spoiled = judge.records(data[:-1] + b"?" + data[:70])
    assert [batch.is_valid for batch in spoiled.batches] == [False]
    assert spoiled.trailing_bytes == 70
    file = tmp_path / LOG
    file.write_bytes(data[:-1] + b"?" + data[:70])
    assert judge.records(file) == spoiled


@pytest.fixture
def named_partition(partition: Path) -> Path:
    """A log is opened by the name of its directory; the epoch is the one in the batches."""
    named = partition / "topic-0"
    named.mkdir()
    for path in partition.glob("0*"):
        path.rename(named / path.name)
    (named / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    return named


def test_kafka_opens_a_good_directory(judge: Judge, named_partition: Path) -> None:
    before = sorted((path.name, path.read_bytes()) for path in named_partition.iterdir())
    log = judge.open_log(named_partition, last_shutdown_clean=True)
    assert (log.log_start_offset, log.log_end_offset, log.last_stable_offset) == (0, 6, 6)
    assert [(epoch.epoch, epoch.start_offset) for epoch in log.leader_epochs] == [(0, 0)]
    assert [segment.index_entries for segment in log.segments] == [1]
    assert before == sorted((path.name, path.read_bytes()) for path in named_partition.iterdir())


def test_kafka_drops_a_spoiled_batch_after_an_unclean_shutdown(
    judge: Judge, named_partition: Path
) -> None:
    spoil(LOG, lambda data: data[:-1] + b"?")(named_partition)
    assert judge.open_log(named_partition, last_shutdown_clean=False).log_end_offset == 3


def test_kafka_finds_an_open_and_an_aborted_transaction(judge: Judge, tmp_path: Path) -> None:
    abort_marker = KafkaRecord(3, 5, key=bytes(4), value=bytes(6))
    data = b"".join(
        (
            transactional_batch(judge, producer_id=7, first=0),
            judge.build_batch(
                [abort_marker],
                base_offset=3,
                producer_id=7,
                producer_epoch=0,
                is_transactional=True,
                is_control=True,
            ),
            transactional_batch(judge, producer_id=8, first=4),
        )
    )
    directory = tmp_path / "topic-0"
    directory.mkdir()
    (directory / LOG).write_bytes(data)
    log = judge.open_log(directory, last_shutdown_clean=False)
    assert [(txn.producer_id, txn.first_offset, txn.last_offset) for txn in log.aborted_txns] == [
        (7, 0, 3)
    ]
    assert [(p.producer_id, p.current_txn_first_offset) for p in log.producers] == [
        (7, None),
        (8, 4),
    ]
    assert [batch.last_sequence for batch in log.producers[1].batches] == [2]
    assert (log.last_stable_offset, log.log_end_offset) == (4, 7)


def transactional_batch(judge: Judge, *, producer_id: int, first: int) -> bytes:
    return judge.build_batch(
        three_records(first=first),
        base_offset=first,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
        is_transactional=True,
    )


def test_unknown_question_is_an_error_and_the_judge_lives_on(judge: Judge) -> None:
    with pytest.raises(JudgeError, match="unknown command"):
        judge.send_command("acquit")
    assert judge.records(b"").batches == ()


@pytest.mark.usefixtures("judge")
def test_silence_is_an_error_and_not_a_hang() -> None:
    impatient = JudgeProcess(answer_timeout_s=0.001)
    with pytest.raises(JudgeError, match="took too long"):
        impatient.send_command("records", hex="")
    impatient.close()
