"""The positions at which reading starts and ends, from Spark's options.

A position is the same for all partitions ("earliest", "latest", a timestamp) or one per partition,
as JSON: `{"topic": {"0": 23, "1": -2}}`, with -2 for the earliest and -1 for the latest offset.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ottla.model import TopicPartition
from ottla.pipeline.reading.errors import OptionError

LATEST: Final = -1
EARLIEST: Final = -2

PerPartition: TypeAlias = dict[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Position:
    """Timestamps if `is_timestamp`, else offsets, EARLIEST or LATEST."""

    everywhere: int | None = None
    each: PerPartition = field(default_factory=dict)
    is_timestamp: bool = False

    def of(self, partition: TopicPartition) -> int:
        """The value for a partition. Raises OptionError if there is none."""
        if self.everywhere is not None:
            return self.everywhere
        found = self.each.get(partition)
        if found is None:
            raise OptionError(
                f"the offsets given leave out {partition.topic}-{partition.partition}; "
                "name every partition of the topics, with -2 for earliest and -1 for latest"
            )
        return found


def parse_position(options: Mapping[str, str], which: str, *, default: int) -> Position:
    """`which` is "starting" or "ending". As in Spark's own connector, a timestamp for all
    partitions overrides timestamps per partition, and both override offsets."""
    name = f"{which}Timestamp"
    if (text := options.get(name)) is not None:
        return Position(_timestamp(name, text), is_timestamp=True)
    name = f"{which}OffsetsByTimestamp"
    if (text := options.get(name)) is not None:
        return Position(each=parse_offsets(name, text), is_timestamp=True)
    name = f"{which}Offsets"
    text = options.get(name)
    if text is None:
        return Position(default)
    refused = EARLIEST if which == "ending" else None
    word = {"earliest": EARLIEST, "latest": LATEST}.get(text.strip().lower())
    position = Position(word) if word is not None else Position(each=parse_offsets(name, text))
    if refused is not None and refused in (position.everywhere, *position.each.values()):
        raise OptionError(
            f"{name} cannot be the earliest offset, because there are no records before it"
        )
    return position


def parse_offsets(name: str, text: str) -> PerPartition:
    try:
        topics = json.loads(text)
        return {
            TopicPartition(topic, int(partition)): int(offset)
            for topic, partitions in topics.items()
            for partition, offset in partitions.items()
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise OptionError(
            f'{name} is {text!r}; write it as {{"topic": {{"0": 23, "1": -2}}}}'
        ) from error


def _timestamp(name: str, text: str) -> int:
    try:
        found = int(text)
    except ValueError:
        found = -1
    if found < 0:
        raise OptionError(f"{name} is {text!r}; it must be a number, the milliseconds since 1970")
    return found
