"""A dead letter (KIP-1191): where it came from and why, by its headers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.cli.arguments.partition_names import parse_partitions
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.records import ConsumedRecord

_PREFIX: Final = "__dlq.errors."
# Names the letter that a redriven record comes from.
REDRIVEN_FROM: Final = "ottla-redriven-from"
_REJECTED: Final = "reject"
_CAUSES: Final = ("rejected", "limit")


class DeadLetter(NamedTuple):
    """`is_reference`: the letter has neither key nor value, which are those of the record at its
    origin."""

    record: ConsumedRecord
    topic: str
    partition: int
    offset: int
    group: str
    delivery_count: int
    message: str

    @property
    def is_reference(self) -> bool:
        return self.record.key is None and self.record.value is None

    @property
    def cause(self) -> str:
        return "rejected" if _REJECTED in self.message.lower() else "limit"

    @property
    def name(self) -> str:
        return f"{self.record.topic}-{self.record.partition}@{self.record.offset}"


class LetterFilter(NamedTuple):
    """Which letters to redrive. What is None or empty is not looked at."""

    group: str | None = None
    topic: str | None = None
    partitions: tuple[int, ...] = ()
    cause: str | None = None

    def matches(self, letter: DeadLetter) -> bool:
        return (
            self.group in (None, letter.group)
            and self.topic in (None, letter.topic)
            and self.cause in (None, letter.cause)
            and (not self.partitions or letter.partition in self.partitions)
        )


def read_letter(record: ConsumedRecord) -> DeadLetter | None:
    """None for a record that is no dead letter."""
    headers: Mapping[str, bytes | None] = {
        name.removeprefix(_PREFIX): value
        for name, value in record.headers
        if name.startswith(_PREFIX)
    }

    def text(name: str) -> str:
        return (headers.get(name) or b"").decode(errors="replace")

    def number(name: str) -> int:
        found = text(name)
        return int(found) if found.isascii() and found.isdecimal() else -1

    topic, partition, offset = text("topic"), number("partition"), number("offset")
    if not topic or partition < 0 or offset < 0:
        return None
    return DeadLetter(
        record, topic, partition, offset, text("group"), number("delivery.count"), text("message")
    )


def own_headers(letter: DeadLetter) -> list[tuple[str, bytes | None]]:
    """The headers of the letter that are not about its death."""
    return [(name, value) for name, value in letter.record.headers if not name.startswith(_PREFIX)]


def letter_filter(group: str | None, origin: str | None, cause: str | None) -> LetterFilter:
    """The filter for these options. Raises CommandError."""
    topic, partitions = (None, []) if origin is None else parse_partitions(origin, what="--topic")
    if cause not in (None, *_CAUSES):
        raise CommandError(
            f"--cause takes {' or '.join(_CAUSES)}; not {cause!r}.", exit_code=ExitCode.USAGE
        )
    return LetterFilter(group, topic, tuple(partitions), cause)
