"""`ottla dump` as its users meet it: output, messages, exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ottla.cli.main import make_app
from ottla.wire.records.builder import build_batch
from tests.support.kafka.kafka_fixtures import extract
from tests.support.storage.dumped import LOG, plain_batches, record, write_log


def dump(*arguments: str | Path, columns: int = 100) -> Result:
    runner = CliRunner(env={"COLUMNS": str(columns)})
    return runner.invoke(make_app("dump"), ["dump", *map(str, arguments)], catch_exceptions=False)


def json_lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def content_of(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_help_has_examples_and_exit_codes() -> None:
    result = dump("--help")
    assert result.exit_code == 0
    assert "ottla dump --verify" in result.stdout
    assert "Exit codes" in result.stdout


def test_partition_is_shown_file_by_file(tmp_path: Path) -> None:
    partition = extract("clean/transactions-0", tmp_path)
    result = dump(partition)
    assert result.exit_code == 0
    headings = [line for line in result.stdout.splitlines() if line.startswith(str(partition))]
    assert len(headings) == len(list(partition.iterdir()))
    assert "log, 1,999 bytes" in result.stdout


def test_batches_fit_a_hundred_columns(tmp_path: Path) -> None:
    partition = extract("clean/transactions-0", tmp_path)
    lines = dump(partition / LOG).stdout.splitlines()[1:]
    assert lines[0].split()[:5] == ["offsets", "records", "position", "bytes", "codec"]
    assert lines[1].split()[:8] == [
        "0-2", "3", "0", "235", "none", "2026-11-16", "02:31:37.519", "0",
    ]  # fmt: skip
    assert "txn control" in lines[5]
    assert all(len(line) <= 100 for line in lines)


@pytest.mark.parametrize("columns", [100, 160])
def test_width_is_respected(tmp_path: Path, columns: int) -> None:
    partition = extract("clean/__cluster_metadata-0", tmp_path)
    lines = dump("--deep", partition / LOG, columns=columns).stdout.splitlines()[1:]
    assert columns - 20 < max(map(len, lines)) <= columns


def test_columns_without_anything_are_left_out(tmp_path: Path) -> None:
    titles = dump(write_log(tmp_path, plain_batches(1))).stdout.splitlines()[1].split()
    assert titles == [
        "offsets",
        "records",
        "position",
        "bytes",
        "codec",
        "max",
        "timestamp",
        "epoch",
    ]


def test_deep_shows_keys_values_and_headers(tmp_path: Path) -> None:
    partition = extract("clean/codecs-0", tmp_path)
    result = dump("--deep", partition / LOG)
    assert "batch 0-4 · 5 records · at byte 0" in result.stdout
    for shown in ("tombstone", "null", "naïve ✓", "without key", "(400 bytes)"):
        assert shown in result.stdout


def test_binary_values_are_hexadecimal_and_markup_is_only_text(tmp_path: Path) -> None:
    batch = build_batch([record(0, b"\0\xff", b"[bold]loud[/]"), record(1, b"a\nb", b"")])
    shown = dump("--deep", write_log(tmp_path, [batch])).stdout
    assert "0x00ff" in shown
    assert "[bold]loud[/]" in shown
    assert r"a\nb" in shown


def test_internal_records_are_decoded(tmp_path: Path) -> None:
    partition = extract("clean/__consumer_offsets-0", tmp_path)
    shown = dump("--deep", "--limit", "3", partition / LOG, columns=160).stdout
    assert "OffsetCommitValue v4" in shown
    assert "offset=34" in shown


def test_format_can_be_chosen(tmp_path: Path) -> None:
    partition = extract("clean/__transaction_state-0", tmp_path)
    copy = partition.rename(tmp_path / "copy-0")
    (first,) = json_records("--limit", "1", copy / LOG)
    assert first["value_record"] is None
    (first,) = json_records("--limit", "1", "--as", "transactions", copy / LOG)
    assert first["key_record"]["fields"] == {"transactional_id": "one"}


def json_records(*arguments: str | Path) -> list[dict[str, Any]]:
    lines = json_lines(dump("--deep", "--json", *arguments))
    return [line for line in lines if line["type"] == "record"]


def test_json_has_one_object_per_line_with_its_file(tmp_path: Path) -> None:
    directory = extract("clean", tmp_path)
    lines = json_lines(dump("--deep", "--json", directory))
    assert {line["type"] for line in lines} == {
        "aborted_transaction",
        "batch",
        "leader_epoch",
        "offset_index_entry",
        "partition_offset",
        "producer",
        "property",
        "record",
        "time_index_entry",
    }
    assert all(Path(line["file"]).exists() for line in lines)


def test_json_marks_bytes_that_are_no_text(tmp_path: Path) -> None:
    batch = build_batch([record(0, b"\0\xff", "✓".encode())])
    (line,) = json_records(write_log(tmp_path, [batch]))
    assert (line["key"], line["key_encoding"]) == ("AP8=", "base64")
    assert line["value"] == "✓"
    assert "value_encoding" not in line


def test_range_and_limit_choose_records(tmp_path: Path) -> None:
    log = write_log(tmp_path, plain_batches(5))
    chosen = json_records("--from-offset", "4", "--to-offset", "9", log)
    assert [line["offset"] for line in chosen] == [4, 5, 6, 7, 8, 9]
    chosen = json_records("--from-offset", "4", "--limit", "2", log)
    assert [line["offset"] for line in chosen] == [4, 5]


def test_sound_files_pass_verification(tmp_path: Path) -> None:
    directory = extract("clean", tmp_path)
    result = dump("--verify", directory)
    assert result.exit_code == 0
    assert all(line.startswith("sound") for line in result.stdout.splitlines())
    assert result.stderr == ""


def test_verification_lists_problems_and_fails(tmp_path: Path) -> None:
    partition = extract("clean/plain-0", tmp_path)
    log = partition / LOG
    log.write_bytes(log.read_bytes()[:-1])
    result = dump("--verify", partition)
    assert result.exit_code == 1
    assert f"1 problem  {log}  8 batches" in result.stdout
    assert f"{log} is corrupt at byte" in result.stderr
    assert f"{log.with_suffix('.index')}: 33 at byte" in result.stderr


def test_verification_in_json_has_problems_and_verdicts(tmp_path: Path) -> None:
    log = write_log(tmp_path, [*plain_batches(1), b"torn"])
    problem, verdict = json_lines(dump("--verify", "--json", log))
    assert (problem["type"], problem["position"]) == ("problem", len(plain_batches(1)[0]))
    assert verdict == {
        "type": "verdict",
        "file": str(log),
        "batches": 1,
        "records": 3,
        "entries": 0,
        "problems": 1,
    }


def test_statistics_are_those_of_the_whole_log(tmp_path: Path) -> None:
    partition = extract("clean/transactions-0", tmp_path)
    (partition / f"{LOG}.deleted").write_bytes((partition / LOG).read_bytes())
    (line,) = json_lines(dump("--stats", "--json", partition))
    assert (line["type"], line["path"]) == ("statistics", str(partition))
    assert (line["batches"], line["records"], line["bytes"]) == (25, 43, 3760)
    assert (line["committed_transactions"], line["aborted_transactions"]) == (4, 4)
    assert line["open_transactions"] == [{"producer_id": 1002, "first_offset": 40}]
    assert line["offsets"]["last"] == 42
    shown = dump("--stats", partition).stdout
    for text in ("0-42", "4 committed, 4 aborted, 1 open", "bytes of a record", "1002"):
        assert text in shown


def test_statistics_of_a_log_directory_come_by_partition(tmp_path: Path) -> None:
    directory = extract("clean", tmp_path)
    lines = json_lines(dump("--stats", "--json", directory))
    paths = [Path(line["path"]) for line in lines]
    partitions = {path for path in directory.iterdir() if path.is_dir()}
    snapshots = set(directory.rglob("*.checkpoint"))
    assert set(paths) == partitions | snapshots
    assert len(paths) == len(set(paths))


def test_statistics_of_named_segments_come_one_by_one(tmp_path: Path) -> None:
    partition = extract("clean/plain-0", tmp_path)
    logs = sorted(partition.glob("*.log"))
    lines = json_lines(dump("--stats", "--json", *logs))
    assert [Path(line["path"]) for line in lines] == logs
    assert [line["bytes"] for line in lines] == [log.stat().st_size for log in logs]


def test_statistics_need_a_log(tmp_path: Path) -> None:
    path = tmp_path / "meta.properties"
    path.write_text("version=1\ncluster.id=c\nnode.id=1\n")
    result = dump("--stats", path)
    assert result.exit_code == 2
    assert "needs at least one log" in result.stderr


def test_verification_and_statistics_are_two_questions(tmp_path: Path) -> None:
    result = dump("--verify", "--stats", write_log(tmp_path, []))
    assert result.exit_code == 2
    assert "choose one" in result.stderr


def test_torn_log_is_shown_to_the_tear_and_fails(tmp_path: Path) -> None:
    log = write_log(tmp_path, [*plain_batches(2), b"torn"])
    result = dump(log)
    assert result.exit_code == 1
    assert "3-5" in result.stdout
    assert f"{log} is corrupt at byte" in result.stderr


def test_corrupt_batch_is_marked(tmp_path: Path) -> None:
    first, second = plain_batches(2)
    first[-1] ^= 1
    result = dump(write_log(tmp_path, [first, second]))
    assert result.exit_code == 1
    assert "CORRUPT" in result.stdout
    assert "CRC-32C" in result.stderr


def test_missing_and_unknown_files_are_reported_and_the_others_shown(tmp_path: Path) -> None:
    log = write_log(tmp_path, plain_batches(1))
    missing, unknown, empty = tmp_path / "gone", tmp_path / "notes.txt", tmp_path / "empty"
    unknown.touch()
    empty.mkdir()
    result = dump(missing, unknown, empty, log)
    assert result.exit_code == 2
    assert f"{missing}: there is no such file" in result.stderr
    assert f"{unknown}: unknown file name" in result.stderr
    assert f"{empty}: the directory contains no log files" in result.stderr
    assert "0-2" in result.stdout


def test_remark_does_not_fail(tmp_path: Path) -> None:
    partition = extract("unclean/plain-0", tmp_path)
    result = dump(partition / "00000000000000000145.index")
    assert result.exit_code == 0
    assert "empty entries at the end" in result.stderr
    assert "empty" not in result.stdout


def test_empty_file_says_so(tmp_path: Path) -> None:
    assert "empty" in dump(write_log(tmp_path, [])).stdout


@pytest.mark.parametrize("options", [(), ("--deep",), ("--verify",), ("--stats",)])
def test_nothing_is_ever_changed(tmp_path: Path, options: tuple[str, ...]) -> None:
    directory = extract("unclean", tmp_path)
    before = content_of(directory)
    dump("--json", *options, directory)
    assert content_of(directory) == before
