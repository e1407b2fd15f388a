"""Whether a program printed what a document shows, apart from numbers, ids, times and paths."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ELLIPSES = ("…", "...")
_REPLACED = (
    # Colours, where a program shows them in spite of a file.
    (re.compile(r"\x1b\[[0-9;]*[A-Za-z]"), ""),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d|Z)?"), "TIME"),
    (
        re.compile(r"(?<![\w./+-])(?=[\w+/-]*[A-Za-z])(?=[\w+/-]*[\dA-Z_-])[\w+/-]{22}(?![\w+/-])"),
        "ID",
    ),
    (re.compile(r"(?<![\w.:])/[\w.@/-]+"), "PATH"),
    (re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?"), "#"),
    (re.compile(r"\d+"), "#"),
    (re.compile(r"# ?(?:ms|s|µs|us|MB|KB|kB|GB|bytes)\b"), "#"),
    # Rates, which are shown where something took a second or more.
    (re.compile(r"(?<= in #): # records/s, #/s$"), ""),
    # What a table shows where there is no number.
    (re.compile(r"(?<!\S)-(?!\S)"), "#"),
    (re.compile(r"\s+"), " "),
)


def difference(expected: Iterable[str], actual: Iterable[str]) -> str:
    """Empty where every line that is expected was printed, and nothing else unless there is a line
    with an ellipsis. Lines may be in another order: nodes and partitions take their turns."""
    wanted = [line for line in expected if line.strip()]
    is_open = any(line.strip() in _ELLIPSES for line in wanted)
    left = [normal(line) for line in actual if line.strip()]
    missing = []
    for line in wanted:
        if line.strip() in _ELLIPSES:
            continue
        pattern = _pattern(line)
        found = next((other for other in left if pattern.fullmatch(other)), None)
        if found is None:
            missing.append(line)
        else:
            left.remove(found)
    lines = [f"is not there:   {line}" for line in missing]
    if not is_open:
        lines += [f"is not expected: {line}" for line in left]
    return "\n".join(lines)


def normal(line: str) -> str:
    for pattern, text in _REPLACED:
        line = pattern.sub(text, line)
    return line.strip()


def _pattern(line: str) -> re.Pattern[str]:
    """Ellipses within a line stand for any text."""
    parts = re.split(r"…|\.\.\.", line)
    return re.compile(r".*".join(re.escape(normal(part)).replace(r"\ ", " ") for part in parts))
