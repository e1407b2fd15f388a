"""The property of topics that check schemas that every history must have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ottla.simulation.history.checked_events import CheckedAcknowledged, LettersHeld
from ottla.simulation.history.history import History, ReplicaHas

CHECKED: Final = "checked"
# What bad records begin with; good ones begin with the id of a schema.
BAD: Final = b"bad "


class SetAsideExactlyOnce:
    """Every acknowledged record is, at the end, in the topic that checks schemas or in its dead
    letter topic, once, with the offset that was acknowledged; no bad one is in the topic."""

    def check(self, history: History) -> Iterator[str]:
        acknowledged = {
            (event.partition.partition, event.value): event.offset
            for event in history.of(CheckedAcknowledged)
        }
        letters = {
            event.who: Counter((row.partition, row.value, row.offset) for row in event.rows)
            for event in history.of(LettersHeld)
        }
        topics: dict[tuple[str, int], Counter[tuple[bytes, int]]] = {}
        for held in history.of(ReplicaHas):
            if held.partition.topic == CHECKED:
                found = Counter((value, offset) for offset, _, value in held.records)
                topics[held.who, held.partition.partition] = found
                for value, offset in found:
                    if value.startswith(BAD):
                        yield f"{value!r} is at {held.partition} {offset} on {held.who}"
        yield from _misplaced(acknowledged, letters, topics)
        for who, rows in letters.items():
            for (partition, value, offset), count in rows.items():
                if count > 1:
                    yield f"{value!r} of {partition} {offset} is in {count} dead letters on {who}"


def _misplaced(
    acknowledged: dict[tuple[int, bytes], int],
    letters: dict[str, Counter[tuple[int, bytes, int]]],
    topics: dict[tuple[str, int], Counter[tuple[bytes, int]]],
) -> Iterator[str]:
    """The acknowledged records that are not in one place. An offset of -1 is any."""
    by_value = {
        who: Counter((partition, value) for partition, value, _ in rows.elements())
        for who, rows in letters.items()
    }
    in_topics = {
        key: Counter(value for value, _ in rows.elements()) for key, rows in topics.items()
    }
    for (partition, value), offset in acknowledged.items():
        kept = [found for key, found in in_topics.items() if key[1] == partition]
        here = {found[value] for found in kept} or {0}
        there = {found[partition, value] for found in by_value.values()} or {0}
        if (here, there) not in (({1}, {0}), ({0}, {1})):
            yield (
                f"{value!r} was acknowledged at {partition} {offset}; it is in the topic "
                f"{sorted(here)} times and in dead letters {sorted(there)} times"
            )
        elif there == {1} and offset >= 0:
            for who, rows in letters.items():
                if not rows[partition, value, offset]:
                    yield f"the dead letter of {value!r} on {who} does not name offset {offset}"
