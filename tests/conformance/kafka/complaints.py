"""Which of DumpLogSegments' complaints count: some it makes about files that Kafka itself wrote."""

import re
from collections.abc import Iterable
from pathlib import Path

GAPS = "Non-consecutive offsets in "
GAP = re.compile(r"\s*(-?\d+) is followed by (-?\d+)")
TIMESTAMPS = "Found timestamp mismatch in :"
TIMESTAMP = re.compile(r"\s*Index timestamp: (-?\d+), log timestamp: (-?\d+)")
# What the tool finds in a batch without records: no timestamp.
NO_TIMESTAMP = -1


def rightful(problems: Iterable[str], *, compacted: bool) -> list[str]:
    """Drops the complaints that are none.

    The tool takes every segment to begin after offset -1, so it complains about each one that does
    not begin at 0; what it should have asked is whether the first record has the offset that the
    file is named after. A compacted log may have gaps anywhere, and batches whose records are all
    gone, in which the tool finds no timestamp to compare with the index.
    """
    kept = []
    base_offset = 0
    time_index = ""
    for problem in problems:
        if problem.startswith(GAPS):
            base_offset = int(Path(problem.removeprefix(GAPS)).stem)
        elif problem.startswith(TIMESTAMPS):
            time_index = problem
        elif found := GAP.fullmatch(problem):
            first, second = int(found[1]), int(found[2])
            gap = second - (base_offset if first == -1 else first + 1)
            if gap < 0 or (gap > 0 and not compacted):
                kept.append(f"{GAPS}segment {base_offset}: {problem.strip()}")
        elif found := TIMESTAMP.fullmatch(problem):
            if not (compacted and int(found[2]) == NO_TIMESTAMP):
                kept.append(f"{time_index}: {problem.strip()}")
        else:
            kept.append(problem)
    return kept
