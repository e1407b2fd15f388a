"""`TOPIC` or `TOPIC:0,1`: partitions of a topic in options and arguments."""

from __future__ import annotations

from ottla.cli.exit_codes import CommandError, ExitCode


def parse_partitions(text: str, *, what: str) -> tuple[str, list[int]]:
    """The topic and its partitions; an empty list stands for all."""
    topic, colon, numbers = text.partition(":")
    parts = numbers.split(",") if colon else []
    if not topic or not all(part.isdecimal() for part in parts):
        raise CommandError(f"{what} {text!r}: write TOPIC or TOPIC:0,1.", exit_code=ExitCode.USAGE)
    return topic, [int(part) for part in parts]
