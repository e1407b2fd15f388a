"""Redriven dead letters: the group that remembers them, and its offsets' metadata.

A redrive commits, in the transaction of the records that it sends, how far it has come in each
partition of the dead letter topic: the first letter that is left, and in the metadata the letters
above it that are done, because filters may leave letters out. The metadata begins with the number
of letters that the transaction sends, which the group's coordinator counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

# Of the group and of the transactional id, with the name of the dead letter topic behind it.
REDRIVE_PREFIX: Final = "ottla.redrive."
# Kafka's default of offset.metadata.max.bytes.
_TEXT_MAX: Final = 4_096
_TEXT: Final = re.compile(r"(\d{1,9});((?:\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)?)", re.ASCII)


class RedriveProgress(NamedTuple):
    """Of one partition: everything below `next_offset` is done, and the spans above it, which are
    sorted and have gaps between them."""

    next_offset: int = 0
    spans: tuple[tuple[int, int], ...] = ()

    def is_done(self, offset: int) -> bool:
        return offset < self.next_offset or any(
            first <= offset <= last for first, last in self.spans
        )

    def with_done(self, offsets: Iterable[int]) -> RedriveProgress:
        spans: list[tuple[int, int]] = []
        for first, last in sorted([*self.spans, *((each, each) for each in offsets)]):
            if spans and first <= spans[-1][1] + 1:
                spans[-1] = spans[-1][0], max(last, spans[-1][1])
            else:
                spans.append((first, last))
        next_offset = self.next_offset
        while spans and spans[0][0] <= next_offset:
            next_offset = max(next_offset, spans.pop(0)[1] + 1)
        return RedriveProgress(next_offset, tuple(spans))

    def text(self, sent: int) -> str | None:
        """The metadata; None if it is longer than a group may store."""
        listed = (f"{low}-{high}" if high > low else f"{low}" for low, high in self.spans)
        text = f"{sent};{','.join(listed)}"
        return text if len(text) <= _TEXT_MAX else None


def parse_progress(next_offset: int, text: str) -> RedriveProgress:
    """A text that no redrive has written stands for no spans."""
    found = _TEXT.fullmatch(text)
    spans = []
    for each in found[2].split(",") if found is not None and found[2] else ():
        low, _, high = each.partition("-")
        spans.append((int(low), int(high or low)))
    return RedriveProgress(next_offset, tuple(spans))


def redriven_count(group_id: str, texts: Iterable[str | None]) -> int:
    """How many letters a commit of offsets stands for."""
    if not group_id.startswith(REDRIVE_PREFIX):
        return 0
    found = (_TEXT.fullmatch(text or "") for text in texts)
    return sum(int(each[1]) for each in found if each is not None)
