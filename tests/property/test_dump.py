"""Whatever is in a file, a dump of it ends with rows and problems, never with an exception."""

import contextlib
import json
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from ottla.cli.dump.tables import TableOutput
from ottla.dump.files import LOGS, KnownFile, recognise
from ottla.dump.json_rows import row_to_json, statistics_to_json
from ottla.dump.reading import Reading, read_rows
from ottla.dump.rows import Problem, Verdict
from ottla.dump.selection import Selection
from ottla.dump.statistics import LogStatistics, gather
from ottla.dump.stored_records import StoredRecordFormat
from ottla.dump.verification import verify_file
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import compute_crc, iterate_batches
from ottla.wire.records.header import CRC_AT
from tests.support.kafka.kafka_fixtures import extract
from tests.support.storage.dumped import DISK, only

# One file of every kind, with something in it.
NAMES = (
    "codecs-0/00000000000000000020.log",
    "codecs-0/00000000000000000020.index",
    "codecs-0/00000000000000000020.timeindex",
    "transactions-0/00000000000000000000.txnindex",
    "transactions-0/00000000000000000043.snapshot",
    "codecs-0/leader-epoch-checkpoint",
    "codecs-0/partition.metadata",
    "__consumer_offsets-0/00000000000000000000.log",
    "__cluster_metadata-0/00000000000000000074-0000000001.checkpoint",
    "__cluster_metadata-0/quorum-state",
    "recovery-point-offset-checkpoint",
    "meta.properties",
    ".kafka_cleanshutdown",
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return extract("clean", tmp_path_factory.mktemp("dump"))


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with some bytes changed, and cut or lengthened."""
    spoiled = bytearray(content)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, max(len(content) - 1, 0)))
        spoiled[at : at + 1] = draw(st.binary(min_size=1, max_size=4))
    end = draw(st.integers(0, len(spoiled)) | st.just(len(spoiled)))
    return bytes(spoiled[:end]) + draw(st.just(b"") | st.binary(max_size=80))


def resealed(content: bytes) -> bytes:
    """The log with checksums that fit its bytes, so that readers go on to the records."""
    sealed = bytearray(content)
    with contextlib.suppress(ProtocolError):
        for position, header in iterate_batches(content):
            struct.pack_into(
                ">I", sealed, position + CRC_AT, compute_crc(content, position, header)
            )
    return bytes(sealed)


def known(path: Path) -> KnownFile:
    file = recognise(str(path))
    assert file is not None
    return file


@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_damaged_file_ends_with_rows_and_problems(
    directory: Path, name: str, data: st.DataObject
) -> None:
    whole = directory / name
    path = directory / "damaged" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    for beside in whole.parent.glob(f"{whole.stem}.*"):
        shutil.copy(beside, path.parent)
    file = known(path)
    content = data.draw(damaged(whole.read_bytes()))
    path.write_bytes(resealed(content) if file.kind in LOGS else content)
    record_format = data.draw(st.none() | st.sampled_from(StoredRecordFormat))
    reading = Reading(
        Selection(data.draw(st.integers(0, 60))), deep=True, record_format=record_format
    )
    with Path("/dev/null").open("w") as nowhere:
        output = TableOutput(
            Console(file=nowhere), Console(file=nowhere), deep=True, has_headings=True
        )
        output.begin_file(file, path.stat().st_size)
        for row in read_rows(DISK, file, reading):
            json.dumps(row_to_json(file.path, row))
            output.row(row)
        output.end_file()
    *problems, verdict = verify_file(DISK, file)
    assert isinstance(verdict, Verdict)
    assert verdict.problems == len(only(problems, Problem))
    if file.kind in LOGS:
        statistics = LogStatistics()
        bad = list(gather(DISK, file, Selection(), statistics))
        assert bool(bad) <= bool(problems), "what statistics stumble over is not sound"
        json.dumps(statistics_to_json(file.path, statistics))


@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=200))
def test_random_bytes_are_no_log_but_no_accident_either(directory: Path, content: bytes) -> None:
    path = directory / "00000000000000000000.log"
    path.write_bytes(content)
    rows = list(read_rows(DISK, known(path), Reading(deep=True)))
    assert bool(only(rows, Problem)) == bool(content)


def all_offsets(directory: Path, reading: Reading) -> Iterator[int]:
    for path in sorted((directory / "codecs-0").glob("*.log")):
        for row in read_rows(DISK, known(path), reading):
            plain = row_to_json(str(path), row)
            if plain["type"] == "record":
                yield plain["offset"]


@settings(max_examples=50, deadline=None)
@given(first=st.integers(0, 80), last=st.integers(0, 80))
def test_selection_is_what_lies_between_its_ends(directory: Path, first: int, last: int) -> None:
    everything = list(all_offsets(directory, Reading(deep=True)))
    selected = list(all_offsets(directory, Reading(Selection(first, last), deep=True)))
    assert selected == [offset for offset in everything if first <= offset <= last]
