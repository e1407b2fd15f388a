"""Apache Kafka's own dump tool as one more judge of the tests that write logs by chance.

With OTTLA_JUDGE=1 (`make judge-all`) it is shown all that they write, otherwise a sample. Chance
has no part in the choice: the content decides, so that a history which fails does so again. Where
Java or Kafka's jars are missing nothing is shown, and the summary of the run states the reason.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from ottla.runtime.disk import Disk
from tests.conformance.kafka.judge import DUMPED_SUFFIXES, Judge
from tests.conformance.kafka.process import reason_unavailable
from tests.support.storage.log_checks import directory_content

IS_COMPLETE = os.environ.get("OTTLA_JUDGE") == "1"
# A sample is one in so many.
ONE_IN = 1 if IS_COMPLETE else 50

# The one judge of a test session, whose end closes it.
JUDGE = Judge()
# How many directories it has accepted, and files with something in them; how many it never saw.
ACCEPTED: Counter[str] = Counter()


def assert_kafka_accepts(
    disk: Disk, directory: str, *, compacted: bool = False, metadata: bool = False
) -> None:
    """DumpLogSegments finds nothing wrong with the files of a log that was closed."""
    _show(
        directory_content(disk, directory),
        directory.rpartition("/")[2],
        lambda copy: JUDGE.assert_accepts(copy, compacted=compacted, metadata=metadata),
    )


def assert_kafka_accepts_index(disk: Disk, path: str) -> None:
    """As `assert_kafka_accepts`, for an index without a log, of which it can check less."""
    directory, _, name = path.rpartition("/")
    # The tool opens what it expects beside an index.
    beside = {str(Path(name).with_suffix(suffix)): b"" for suffix in (".log", ".index")}
    files = beside | {name: directory_content(disk, directory)[name]}
    _show(files, "t-0", lambda copy: JUDGE.assert_sane([copy / name]))


def summary() -> str:
    """The text for the end of a run, if there was anything to check."""
    if withheld := ACCEPTED["withheld"]:
        reason = reason_unavailable()
        return f"Apache Kafka was shown none of {withheld} log directories: {reason}"
    if not ACCEPTED:
        return ""
    which = "all" if IS_COMPLETE else f"one in {ONE_IN}"
    return (
        f"Apache Kafka accepted {ACCEPTED['directories']} log directories "
        f"with {ACCEPTED['files']} files ({which} of those that were written)"
    )


def _show(files: Mapping[str, bytes], name: str, judge: Callable[[Path], None]) -> None:
    if not _is_chosen(files):
        return
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / name
        copy.mkdir()
        for file, content in files.items():
            (copy / file).write_bytes(content)
        judge(copy)
    ACCEPTED["directories"] += 1
    ACCEPTED["files"] += sum(
        len(content) > 0 and Path(file).suffix in DUMPED_SUFFIXES for file, content in files.items()
    )


def _is_chosen(files: Mapping[str, bytes]) -> bool:
    if reason := reason_unavailable():
        assert not IS_COMPLETE, reason
        ACCEPTED["withheld"] += 1
        return False
    checksum = 0
    for file, content in files.items():
        checksum = zlib.crc32(content, zlib.crc32(file.encode(), checksum))
    return checksum % ONE_IN == 0
